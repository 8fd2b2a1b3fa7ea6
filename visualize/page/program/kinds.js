/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bars as things: a scope, a span or a stay in a state with its end and what it holds, and all that are of its kind.
 * Scopes of one name are a kind, whosever they are, spans of one row's name, and stays in one state on rows of a group.
 * Numbers are of those whose both ends are in the page.
 */

function kindOf({ what, row, label }) {
	const { group, ident } = index.rows[row];
	return what === 'scope' ? { what, label } : what === 'span' ? { what, group, ident } : { what, group, label };
}

const rowsOfKind = ({ what, group, ident }) => rowsWith((row) => what === 'scope' ? row.nests : row.kind === 0 && row.group === group &&
	(what === 'span' ? row.has & HAS_SPANS && row.ident === ident : row.has & HAS_STATES));


const kindName = ({ what, group, ident, label }) => what === 'scope' ? index.labels[label] : what === 'span' ? group + ' ' + ident : group + ': ' + index.labels[label];


const wholePart = (k) => ({ from: -Infinity, to: Infinity, first: k, end: k });

/* Those of a kind that end in part k, with both ends: see(row, from, to, event). */
const eachOfKind = ({ what, label }, rows, k, see) => rows.forEach((row) => what === 'state' ?
	eachState(row, wholePart(k), (from, to, state, event, part, ended) => ended && event >= 0 && state === label && see(row, from, to, event)) :
	walkSpans(row, k, Infinity, (span, lane, time, told) =>
		told && span.event >= 0 && (what === 'span' || span.label === label) && see(row, span.from, time, span.event)));

const KIND_MOST = 2e6;	/* of a kind that are kept one by one */
const BARS = 30;	/* of the small histogram */

/* Which of the bars of a range of durations one is in. */
const barAt = (took, low, high) => high > low ? min(BARS - 1, floor(log(max(1, took) / low) / log(high / low) * BARS)) : 0;

/* Counts of a range of durations in steps of equal ratio: {low, high, count}. */
function countBars(bars, [low, high]) {
	const count = Array(BARS).fill(0);
	for (let i = 2; i < bars.length; i += 4)
		count[barAt(bars[i], low, high)]++;
	return { low, high, count };
}

/* Everything of a kind: {histogram, bars: four numbers each: event, from, took, row}, kept for the next question. */
const kindsKept = new Map();

async function kindCollect(kind, task) {
	const key = JSON.stringify(kind), known = kindsKept.get(key);
	if (known)
		return known;
	const all = { histogram: new Histogram(), bars: [] }, rows = rowsOfKind(kind);
	return eachPart(0, index.nChunks - 1, task, (k) => eachOfKind(kind, rows, k, (row, from, to, event) => {
		all.histogram.add(to - from);
		if (all.bars.length < 4 * KIND_MOST)
			all.bars.push(event, from, to - from, row);
	}), () => {
		kindsKept.set(key, all);
		if (kindsKept.size > 3)
			kindsKept.delete(kindsKept.keys().next().value);
		return all;
	});
}

/*
 * Where one of a kind stands: numbers of all, how many are longer, the longest ones [event, from, took, row], the events
 * that begin the one before and the one after it, and how many took how long, within a range of durations if one is given.
 */
async function kindTask({ kind, took, event, range }, task) {
	const all = await kindCollect(kind, task);
	if (!all)
		return null;
	const { bars: bar, histogram } = all, order = [], n = bar.length;
	let longer = 0, before = -1, after = Infinity;
	for (let i = 0; i < n; i += 4) {
		const other = bar[i], ns = bar[i + 2];
		longer += ns > took;
		if (other < event && other > before)
			before = other;
		if (other > event && other < after)
			after = other;
		if (order.length < 10 || ns > bar[order[9] + 2]) {
			order.push(i);
			order.sort((a, b) => bar[b + 2] - bar[a + 2] || bar[a] - bar[b]);
			order.length = min(order.length, 10);
		}
	}
	return { ...histogram.told(), longer, before, after: isFinite(after) ? after : -1,
		bars: countBars(bar, range ?? [histogram.min, histogram.max].map((ns) => max(1, ns))),
		longest: order.map((i) => bar.slice(i, i + 4)) };
}

/*
 * One bar with its end, part by part: {to, ended, told, self, parent: {label, event, from, level} or null, children: [{label,
 * n, total, longest, event}], n}. What did not end by the page's end goes on.
 */
class Whole {
	constructor({ what, row, lane, from, event }) {
		Object.assign(this, { what, row, lane, from, event, nests: isNest(row), names: new Map(), inner: 0,
			first: min(partAt(from), event >= 0 ? chunkOf(event) : Infinity),
			out: { to: NaN, ended: false, told: false, self: NaN, parent: null, n: 0 } });
	}

	child(span, took) {
		const child = kept(this.names, span.label, () => ({ label: span.label, n: 0, total: 0, longest: -1, event: -1 }));
		child.n++;
		child.total += took;
		if (took > child.longest)
			[child.longest, child.event] = [took, span.event];
		this.inner += took;
		this.out.n++;
	}

	/* Is it known after part k? */
	part(k) {
		const { what, row, lane, from, event, nests, out } = this, parent = (open) => nests && lane && open[lane - 1] ? { ...open[lane - 1] } : null;
		if (what === 'state') {
			eachState(row, wholePart(k), (begin, to, label, of, _, ended) => begin === from && of === event &&
				Object.assign(out, { to, ended, told: ended }));
			return out.ended || rowEnd(row) <= index.chunks[k].last;
		}
		const open = walkSpans(row, k, Infinity, (span, level, time, told, around) => {
			if (!out.ended && level === lane && span.from === from && span.event === event)
				Object.assign(out, { to: time, ended: true, told, parent: parent(around) });
			else if (!out.ended && nests && level === lane + 1 && span.from >= from)
				this.child(span, time - span.from);
		});
		if (!out.ended && open[lane])
			Object.assign(out, { to: min(index.laneEnd.get(row + '/' + lane) ?? index.last, index.last), parent: parent(open) });
		return out.ended;
	}

	told() {
		const { out, from, nests } = this;
		return { ...out, self: nests ? out.to - from - this.inner : NaN, children: [...this.names.values()].sort((a, b) => b.total - a.total) };
	}
}

function wholeTask(bar, task) {
	const whole = new Whole(bar);
	return eachPart(whole.first, index.nChunks - 1, task, (k) => whole.part(k), () => whole.told());
}
