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

function rowsOfKind({ what, group, ident }) {
	return rowsWith((row) => what === 'scope' ? row.kind === ROW_NEST : row.kind === 0 && row.group === group &&
		(what === 'span' ? row.has & HAS_SPANS && row.ident === ident : row.has & HAS_STATES));
}

function kindName({ what, group, ident, label }) {
	return what === 'scope' ? index.labels[label] : what === 'span' ? group + ' ' + ident : group + ': ' + index.labels[label];
}

const wholePart = (k) => ({ from: -Infinity, to: Infinity, first: k, end: k });

/* Those of a kind that end in part k, with both ends: see(row, from, to, event). */
function eachOfKind(kind, rows, k, see) {
	for (const row of rows)
		if (kind.what === 'state')
			eachState(row, wholePart(k), (from, to, label, event, part, ended) =>
				ended && event >= 0 && label === kind.label && see(row, from, to, event));
		else
			walkSpans(row, k, Infinity, (span, lane, time, told) =>
				told && span.event >= 0 && (kind.what === 'span' || span.label === kind.label) && see(row, span.from, time, span.event));
}

/*
 * How long the calls of a thread's scopes are by themselves, as their ends come by: analyze/stats/calls.c in parts.
 * end(k, see) calls see(row, level, span, to, told, self, again) in the order of ends; again: one of its name is around it.
 */
class Calls {
	constructor(rows) {
		this.rows = rows;
		this.inner = new Map(rows.map((row) => [row, new Float64Array(index.rows[row].lanes + 1)]));
	}

	end(k, see) {
		for (const row of this.rows) {
			const inner = this.inner.get(row), nests = index.rows[row].kind === ROW_NEST;
			walkSpans(row, k, Infinity, (span, level, time, told, open) => {
				const total = time - span.from, self = Math.max(0, total - (nests ? inner[level] : 0));
				let again = false;
				if (nests) {
					inner[level] = 0;
					for (let around = level - 1; around >= 0 && !again; around--)
						again = open[around]?.label === span.label;
					if (level)
						inner[level - 1] += total;
				}
				see(row, level, span, time, told, self, again);
			});
		}
	}
}

/* Numbers as they come. */
class Growing {
	constructor() {
		this.n = 0;
		this.all = new Float64Array(1024);
	}

	push(number) {
		if (this.n === this.all.length) {
			const all = new Float64Array(2 * this.n);
			all.set(this.all);
			this.all = all;
		}
		this.all[this.n++] = number;
	}
}

const KIND_MOST = 2e6;	/* of a kind that are kept one by one */
const BARS = 30;	/* of the small histogram */

/* Everything of a kind: {histogram, from, to, event, row}, kept for the next question. */
const kindsKept = new Map();

async function kindCollect(kind, task) {
	const key = JSON.stringify(kind);
	if (kindsKept.has(key))
		return kindsKept.get(key);
	const all = { histogram: new Histogram(), from: new Growing(), took: new Growing(), event: new Growing(), row: new Growing() };
	const rows = rowsOfKind(kind);
	const whole = await eachPart(0, index.chunks.length - 1, task, (k) => eachOfKind(kind, rows, k, (row, from, to, event) => {
		all.histogram.add(to - from);
		if (all.took.n >= KIND_MOST)
			return;
		all.from.push(from);
		all.took.push(to - from);
		all.event.push(event);
		all.row.push(row);
	}));
	if (!whole)
		return null;
	kindsKept.set(key, all);
	if (kindsKept.size > 3)
		kindsKept.delete(kindsKept.keys().next().value);
	return all;
}

/* Counts of durations in bars of equal ratio: {low, high, count}. */
function barsOf(took) {
	let low = Infinity, high = 1;
	for (let i = 0; i < took.n; i++) {
		low = Math.min(low, Math.max(1, took.all[i]));
		high = Math.max(high, took.all[i]);
	}
	const count = new Array(BARS).fill(0), scale = BARS / Math.log(high / low);
	for (let i = 0; i < took.n; i++)
		count[high > low ? Math.min(BARS - 1, Math.floor(Math.log(Math.max(1, took.all[i]) / low) * scale)) : 0]++;
	return { low, high, count };
}

/*
 * Where one of a kind stands: numbers of all, how many are longer, the longest ones [event, from, took, row], and
 * the events that begin the one before and the one after it.
 */
async function kindTask({ kind, took, event }, task) {
	const all = await kindCollect(kind, task);
	if (!all)
		return null;
	let longer = 0, before = -1, after = Infinity;
	const order = [];
	for (let i = 0; i < all.took.n; i++) {
		const other = all.event.all[i], ns = all.took.all[i];
		longer += ns > took;
		if (other < event && other > before)
			before = other;
		if (other > event && other < after)
			after = other;
		if (order.length < 10 || ns > all.took.all[order[order.length - 1]]) {
			order.push(i);
			order.sort((a, b) => all.took.all[b] - all.took.all[a] || all.event.all[a] - all.event.all[b]);
			order.length = Math.min(order.length, 10);
		}
	}
	return { ...all.histogram.told(), longer, before, after: after === Infinity ? -1 : after, bars: barsOf(all.took),
		longest: order.map((i) => [all.event.all[i], all.from.all[i], all.took.all[i], all.row.all[i]]) };
}

/*
 * One bar with its end: {to, ended, told, self, parent: {label, event, from, level} or null, children: [{label, n,
 * total, longest, event}], n}. What did not end by the page's end goes on.
 */
async function wholeTask({ what, row, lane, from, event }, task) {
	const first = Math.min(chunkAt(from), index.chunks.length - 1), nests = index.rows[row].kind === ROW_NEST;
	const out = { to: NaN, ended: false, told: false, self: NaN, parent: null, children: [], n: 0 };
	const names = new Map();
	let inner = 0;
	const begun = event >= 0 ? chunkOf(event) : first;
	const part = (k) => {
		if (what === 'state') {
			eachState(row, wholePart(k), (begin, to, label, of, _, ended) => {
				if (begin === from && of === event)
					[out.to, out.ended, out.told] = [to, ended, ended];
			});
			return out.ended || rowEnd(row) <= index.chunks[k].last;
		}
		const open = walkSpans(row, k, Infinity, (span, level, time, told, around) => {
			if (out.ended)
				return;
			if (level === lane && span.from === from && span.event === event) {
				Object.assign(out, { to: time, ended: true, told, parent: nests && level ? around[level - 1] : null });
			} else if (nests && level === lane + 1 && span.from >= from) {
				const child = names.get(span.label) ?? { label: span.label, n: 0, total: 0, longest: -1, event: -1 };
				child.n++;
				child.total += time - span.from;
				if (time - span.from > child.longest)
					[child.longest, child.event] = [time - span.from, span.event];
				names.set(span.label, child);
				inner += time - span.from;
				out.n++;
			}
		});
		if (!out.ended && open[lane]) {
			out.to = Math.min(index.laneEnd.get(row + '/' + lane) ?? index.last, index.last);
			out.parent = nests && lane ? open[lane - 1] : null;
		}
		return out.ended;
	};
	let done = false;
	const whole = await eachPart(Math.min(first, begun), index.chunks.length - 1, task, (k) => {
		done = done || part(k);
		return done;
	});
	if (!whole && !done)
		return null;
	out.parent = out.parent && { label: out.parent.label, event: out.parent.event, from: out.parent.from };
	out.children = [...names.values()].sort((a, b) => b.total - a.total);
	out.self = nests ? out.to - from - inner : NaN;
	return out;
}
