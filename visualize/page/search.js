/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds events: by text anywhere in their message, place, class or thread, or by the value of an
 * argument, "name=value", which is how a value is followed through the trace.
 */
'use strict';

const search = {
	text: '',
	match: null,	/* chunk to the indices of its events that match */
	follow: false,	/* hits are joined by a line */
	counts: [],	/* hits by chunk, as far as they are known */
	total: 0,
	run: 0,		/* the number of this search; an older one that goes on must stop */
};

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

/* The indices of a chunk's events that match; remembered with the chunk. */
function searchHits(chunk) {
	if (chunk.hits?.run !== search.run)
		chunk.hits = { run: search.run, events: search.match(chunk) };
	return chunk.hits.events;
}

/* Begins a search; it counts its hits in all chunks while the page stays usable. */
async function searchStart(text, follow) {
	const run = ++search.run;
	const value = /^([^=]+)=(.*)$/s.exec(text);
	const known = value && (value[1] === 'id' || index.sites.some((site) => site.args.some((arg) => arg.name === value[1])));
	Object.assign(search, { text, follow: Boolean(follow), counts: [], total: 0,
		match: text === '' ? null : known ? matchValue(value[1], value[2]) : matchText(text) });
	show();
	if (!search.match)
		return;
	for (let k = 0; k < index.chunks.length; k++) {
		const chunk = await chunkLater(k);
		if (run !== search.run)
			return;
		search.counts[k] = searchHits(chunk).length;
		search.total += search.counts[k];
		if (k % 8 === 7) {
			show();
			await new Promise((resolve) => setTimeout(resolve));
		}
	}
	show();
}

/* Goes to the next hit, in direction 1, or the one before, -1, from what is selected or in sight. */
async function searchNext(direction) {
	const n = index.chunks.length, run = search.run;
	if (!search.match || !n)
		return;
	let at = view.selected ? view.selected.event : -1;
	if (at < 0)
		at = index.chunks[Math.min(chunkAt(view.from), n - 1)].firstEvent - (direction > 0 ? 1 : 0);
	for (let k = chunkOf(Math.max(0, at)), i = 0; i <= n; i++, k = (k + direction + n) % n) {
		if (search.counts[k] === 0)
			continue;
		const chunk = await chunkLater(k);
		if (run !== search.run)
			return;
		const hits = searchHits(chunk);
		const wanted = i === 0 ? (e) => direction > 0 ? chunk.first + e > at : chunk.first + e < at : () => true;
		const hit = direction > 0 ? hits.find(wanted) : hits.findLast(wanted);
		if (hit !== undefined) {
			selectEvent(chunk, hit, true);
			return;
		}
	}
}

/* Which hit is selected, once all before it are counted. */
function searchPlace() {
	const { selected } = view;
	if (!selected || !search.match)
		return 0;
	const k = chunkOf(selected.event), chunk = chunks.get(k);
	let before = 0;
	for (let i = 0; i < k; i++) {
		if (search.counts[i] === undefined)
			return 0;
		before += search.counts[i];
	}
	const place = chunk ? searchHits(chunk).indexOf(selected.event - chunk.first) : -1;
	return place < 0 ? 0 : before + place + 1;
}
