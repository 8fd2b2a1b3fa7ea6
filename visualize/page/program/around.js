/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What held a thread up between two moments: who was on its CPU, and which threads had the locks that it waited for. A CPU is
 * whose event was the last one there, unless that says that the thread leaves it; a wait for a lock is told by the event that
 * ends it, whose arguments say how long it was, ns, and who had the lock when it began, owner.
 */

const trackOfThread = (thread) => index.tracks.find((track) => track.thread === thread);
const threadName = ({ name, tid }) => name + ' (' + tid + ')';
const argumentAt = ({ args }, wanted) => args.findIndex(({ name }) => name === wanted);

/* The waits among a part's events, by thread: {from, to, owner: a thread, lock: in words}. */
function waitsOf(chunk, e, ns, owner) {
	const pid = chunk.pid(e), to = chunk.time[e], holder = Number(chunk.value(e, owner));
	return { from: to - Number(chunk.value(e, ns)), to, lock: chunk.siteOf(e).args[0].name + ' ' + chunk.valueText(e, 0),
		owner: index.tracks.find((track) => track.pid === pid && track.tid === holder)?.thread };
}

/* What a thread did from one moment to another, and in its waits those that it waited for: [{thread, from, to, lock}] in order. */
function pathOf(waits, thread, from, to, lock, deep) {
	const path = [], own = (until) => until > from && path.push({ thread, from, to: until, lock });
	for (const wait of waits[thread] ?? [])
		if (wait.to <= to && wait.to > from && wait.owner >= 0 && deep < 20) {
			own(wait.from);
			path.push(...pathOf(waits, wait.owner, max(from, wait.from), wait.to, wait.lock, deep + 1));
			from = wait.to;
		}
	own(to);
	return path;
}

/* {ran: [[thread, ns] on the CPU], path}. */
function aroundTask({ thread, from, to }, task) {
	const on = [], ran = new Map(), waits = [], leaves = index.sites.map(({ group, func }) => group === 'thread' && /^(switch_out|exit)$/.test(func));
	const ns = index.sites.map((site) => argumentAt(site, 'ns')), owner = index.sites.map((site) => argumentAt(site, 'owner'));
	let cpu = -1, at = from;
	const pass = (time) => {
		if (time > at && on[cpu] >= 0)
			addTo(ran, on[cpu], time - at);
		at = max(at, time);
	};
	return eachPart(partAt(from), partAt(to), task, (k) => {
		const chunk = chunks.get(k);
		for (let e = 0; e < chunk.n && chunk.time[e] <= to; e++) {
			const s = chunk.site[e], who = chunk.thread(e), there = chunk.trackOf(e).cpu;
			if (there === cpu || who === thread)
				pass(chunk.time[e]);
			if (who === thread)
				cpu = there;
			on[there] = leaves[s] ? -1 : who;
			if (ns[s] >= 0 && owner[s] >= 0)
				(waits[who] ??= []).push(waitsOf(chunk, e, ns[s], owner[s]));
		}
	}, () => {
		pass(to);
		return { ran: [...ran].sort((a, b) => b[1] - a[1]), path: pathOf(waits, thread, from, to, '', 0) };
	});
}
