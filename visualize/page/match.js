/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which events a search means: those for which an expression of ktr-filter(7) holds; those that have the value of an
 * argument, "name=value"; or those with a text anywhere in their message, place, class or thread.
 */

/* Events of a site, in order, for which wanted(ordinal) holds. */
function matchSite(chunk, s, wanted, out) {
	for (let e = 0; e < chunk.n; e++)
		if (chunk.site[e] === s && wanted(chunk.ordinal[e], e))
			out.push(e);
}

function matchValue(name, text) {
	return (chunk) => {
		const out = [];
		for (const s of chunk.columns.keys()) {
			const site = index.sites[s], i = site.args.findIndex((arg) => arg.name === name);
			if (i < 0 && name !== 'id')
				continue;
			if (i < 0) {
				if (site.ident === text)
					matchSite(chunk, s, () => true, out);
				continue;
			}
			const arg = site.args[i], values = chunk.values(s, i), known = new Map();
			matchSite(chunk, s, (ordinal, e) => {
				const word = values[ordinal];
				let is = known.get(word);
				if (is === undefined) {
					const value = chunk.args(e)[i];
					is = valueText(arg, value, chunk.pid(e)) === text ||
						(typeof value === 'bigint' && '0x' + value.toString(16) === text.toLowerCase());
					known.set(word, is);
				}
				return is;
			}, out);
		}
		return out.sort((a, b) => a - b);
	};
}

function matchText(text) {
	const wanted = text.toLowerCase(), has = (where) => where.toLowerCase().includes(wanted);
	const sites = index.sites.map((site) => has(site.name) || has(site.file) || has(site.func) || has(site.class) ||
		site.steps.some((step) => typeof step === 'string' && has(step)));
	const tracks = index.tracks.map((track) => has(track.name + '/' + track.tid));
	/* What an argument prints can only match if it is text, or if digits or several pieces are asked for. */
	const whole = /[0-9 :,=()]/.test(text);
	return (chunk) => {
		const strings = chunk.stringBytes.map((_, i) => has(chunk.string(i, true)));
		const texts = new Map();
		const out = [];
		for (let e = 0; e < chunk.n; e++) {
			const s = chunk.site[e];
			if (sites[s] || tracks[chunk.track[e]]) {
				out.push(e);
				continue;
			}
			if (!texts.has(s))
				texts.set(s, index.sites[s].args.flatMap((arg, i) => arg.type === 's' || arg.type === 'k' ? [chunk.values(s, i)] : []));
			if (texts.get(s).some((values) => strings[Number(values[chunk.ordinal[e]])]) ||
			    (whole && has(chunk.message(e))))
				out.push(e);
		}
		return out;
	};
}

/* {match: part to the indices of its events, or null; how: in words; error: why the text is not the expression it looks like}. */
function searchOf(text) {
	const value = /^([^=<>!~&|]+)=([^=~].*|)$/s.exec(text);
	if (text === '')
		return { match: null, how: '' };
	if (value && (value[1] === 'id' || index.sites.some((site) => site.args.some((arg) => arg.name === value[1]))))
		return { match: matchValue(value[1], value[2]), how: 'value' };
	try {
		return { match: filterOf(text), how: 'filter' };
	} catch (error) {
		/* A text may have any signs in it; where two words are compared, what is wrong with them is said. */
		const looks = /[\w")]\s*(==|!=|<=|>=|=~|!~)\s*\S|^\w+ (in \(|~ )/.test(text);
		return { match: matchText(text), how: 'text', error: looks ? error.message : '' };
	}
}

const LISTED = 1000, DENSITY = 1024;

/*
 * Counts the hits of a search, and finds the first so many: {counts by part, total, density: hits in each of so many
 * columns of the page, list: [[event, time, track, text]], how}.
 */
async function searchTask({ text }, task) {
	const { match } = searchOf(text);
	const found = { counts: [], total: 0, density: new Uint32Array(DENSITY), list: [] };
	task.sofar = () => ({ counts: found.counts, total: found.total, density: found.density, list: found.list });
	const whole = await eachPart(0, index.chunks.length - 1, task, (k) => {
		const chunk = chunks.get(k), hits = match(chunk);
		found.counts[k] = hits.length;
		found.total += hits.length;
		for (const e of hits) {
			found.density[Math.max(0, Math.min(DENSITY - 1, Math.floor(chunk.time[e] / index.span * DENSITY)))]++;
			if (found.list.length < LISTED)
				found.list.push([chunk.first + e, chunk.time[e], chunk.track[e], saidOf(chunk, e)]);
		}
	});
	return whole ? found : null;
}
