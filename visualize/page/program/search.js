/* SPDX-License-Identifier: BSD-2-Clause */
/* The search field: a worker counts and lists hits, the plot marks those in sight. */

/* What a search begins with. */
const searchNone = () => ({
	text: '',
	match: null,	/* chunk to the indices of its events that match */
	how: '',
	follow: false,	/* hits are joined by arrows */
	counts: [],	/* hits by chunk, as far as they are known */
	total: 0, share: 0, done: false,
	density: null,	/* hits by column of the page */
	list: [],	/* [event, time, track, text] of the first of them */
	asked: null,
});
const search = { run: 0, ...searchNone() };	/* run: its number; an older one that goes on must stop */

/* The indices of a chunk's events that match; remembered with the chunk. */
const hitsKnown = (chunk) => chunk.hits?.run === search.run ? chunk.hits.events : null;

const searchHits = (chunk) => hitsKnown(chunk) ?? (chunk.hits = { run: search.run, events: search.match(chunk) }).events;


/* Begins a search; hits are counted by the worker. */
async function searchStart(text, follow) {
	const run = ++search.run;
	search.asked?.stop();
	Object.assign(search, searchNone(), { text, follow: !!follow }, searchOf(text));
	changed(false);
	if (!search.match)
		return hitsShow();
	search.asked = ask('search', { text }, (sofar) => {
		if (run === search.run) {
			Object.assign(search, sofar);
			hitsShow();
			show();
		}
	});
	const found = await search.asked;
	if (run !== search.run || !found)
		return;
	/* What was looked for without them is looked for again. */
	search.match.spans?.forEach((spans, i) => {
		Object.assign(spans, { crossing: found.crossing[i], scanned: index.nChunks });
		search.run = run + 1;
	});
	Object.assign(search, found, { share: 1, done: true });
	hitsShow();
	show();
}

/* Goes to the next hit, in direction 1, or the one before, -1, from what is selected or in sight. */
async function searchNext(direction) {
	const n = index.nChunks, run = search.run;
	if (!search.match || !n)
		return null;
	let at = view.selected?.event ?? -1;
	if (at < 0)
		at = index.chunks[partAt(view.from)].firstEvent - (direction > 0 ? 1 : 0);
	for (let k = chunkOf(max(0, at)), i = 0; i <= n; i++, k = (k + direction + n) % n) {
		if (search.counts[k] === 0)
			continue;
		const chunk = await chunkLater(k);
		if (run !== search.run)
			return null;
		const hits = searchHits(chunk), wanted = (e) => i > 0 || direction * (chunk.first + e - at) > 0;
		const hit = direction > 0 ? hits.find(wanted) : hits.findLast(wanted);
		if (hit !== undefined)
			return selectEvent(chunk, hit, true);
	}
	return null;
}

/* Which hit is selected, once all before it are counted. */
function searchPlace() {
	const event = view.selected?.event ?? -1, chunk = search.match && chunkWith(event), before = search.counts.slice(0, chunk?.number);
	if (!chunk || before.length < chunk.number || before.includes(undefined))
		return 0;
	const place = searchHits(chunk).indexOf(event - chunk.first);
	return place < 0 ? 0 : before.reduce((a, b) => a + b, place + 1);
}
