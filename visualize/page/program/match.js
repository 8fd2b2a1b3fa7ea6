/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which events a search means: those for which an expression of ktr-filter(7) holds; those that have the value of an
 * argument, "name=value"; or those with a text anywhere in their message, place, class or thread.
 */

/* "name=value": an argument's value as the page shows it, as an expression; null where nothing is called so. */
function valueOf(name, text) {
	const quoted = (what) => '"' + what.replace(/["\\]/g, '\\$&') + '"', is = 'arg(' + quoted(name) + ') == ', number = /^-?(0x[\da-f]+|\d[\d.]*(e[+-]?\d+)?)$/i;
	return [...index.sites.some(({ args }) => args.some((arg) => arg.name === name)) ? [is + quoted(text), ...number.test(text) ? [is + text] : []] : [],
		...name === 'id' ? ['ident == ' + quoted(text)] : []].join(' or ');
}

function matchText(text) {
	const wanted = text.toLowerCase(), has = (where) => where.toLowerCase().includes(wanted);
	const sites = index.sites.map((site) => [site.name, site.file, site.func, site.class, ...site.steps].some((text) => typeof text === 'string' && has(text)));
	const tracks = index.tracks.map((track) => has(track.name + '/' + track.tid));
	const texts = index.sites.map(({ args }) => args.map(({ type }, i) => type === 's' || type === 'k' ? i : -1).filter((i) => i >= 0));
	/* What an argument prints can only match if it is text, or if digits or several pieces are asked for. */
	const whole = /[0-9 :,=()]/.test(text);
	return (chunk) => {
		const out = [], { site, track, ordinal } = chunk, strings = Array.from(chunk.stringFlag, (_, i) => has(chunk.string(i, true))), columns = [];
		for (let e = 0; e < chunk.n; e++) {
			const s = site[e];
			if (sites[s] || tracks[track[e]] ||
			    (columns[s] ??= texts[s].map((i) => chunk.column(s, i).halves)).some((halves) => strings[halves[2 * ordinal[e]]]) ||
			    (whole && has(chunk.message(e))))
				out.push(e);
		}
		return out;
	};
}

/* {match: part to the indices of its events, or null; how: in words, as what it was read, and why it is not the expression it looks like}. */
function searchOf(text) {
	const [, name, of] = /^([^=<>!~&|]+)=([^=~].*|)$/s.exec(text) ?? [], value = name && valueOf(name, of);
	if (text === '')
		return { match: null };
	if (value)
		return { match: filterOf(value) };
	try {
		return { match: filterOf(text), how: ' · filter' };
	} catch (error) {
		/* A text may have any signs in it; where two words are compared, what is wrong with them is said. */
		const looks = /[\w")]\s*(==|!=|<=|>=|=~|!~)\s*\S|^\w+ (in \(|~ )/.test(text);
		return { match: matchText(text), how: looks ? ' · as text: ' + error.message : '' };
	}
}

const LISTED = 1000, COMING = 40, DENSITY = 1024;

/* In which column of the page a moment is. */
const densityAt = (time) => max(0, min(DENSITY - 1, floor(time * DENSITY / index.span)));

/*
 * Counts the hits of a search, and finds the first so many: {counts by part, total, density: hits in each of so many
 * columns of the page, list: [[event, time, track, text]], crossing: of the spans that are asked for}.
 */
function searchTask({ text }, task) {
	const { match } = searchOf(text), spans = match.spans ?? [], n = index.nChunks;
	const found = { counts: [], total: 0, density: new Uint32Array(DENSITY), list: [] };
	task.share = (k) => spans.reduce((least, { scanned }) => min(least, (k + scanned) / 2), k) / n;
	/* Until all is known its beginning is enough of the list. */
	task.sofar = () => ({ ...found, list: found.list.slice(0, COMING) });
	return eachPart(0, n - 1, task, async (k) => {
		for (const name of spans)
			if (!await name.ahead(k, task))
				return;
		const chunk = await chunkLater(k), hits = match(chunk), { time } = chunk;
		found.counts[k] = hits.length;
		found.total += hits.length;
		for (const e of hits)
			found.density[densityAt(time[e])]++;
		for (const e of hits.slice(0, LISTED - found.list.length))
			found.list.push([chunk.first + e, time[e], chunk.track[e], saidOf(chunk, e)]);
	}, () => ({ ...found, crossing: spans.map((name) => name.crossing) }));
}
