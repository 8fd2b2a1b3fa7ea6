/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the longest span of a name takes that an event is within, as analyze/filter/filter_spans.c has it: a thread is
 * within a span that it began or ended. Spans that end in the part that they began in are found there; those that go on into
 * other parts are kept from one look at all parts, which is the worker's, and which the page gets with the answer.
 */

/* Where an event of a span's row is lost between its ends, these may be of two spans. */
function lostIn(row, from, to) {
	const gaps = gapsOf(index.rows[row]), gap = gaps[gapAfter(gaps, from)];
	return gap && gap[0] < to;
}

class Named {
	constructor(text) {
		const pattern = patternOf(text), has = (name) => pattern.test(name);
		this.labels = index.labels.map(has);
		this.rows = index.rows.map(({ kind, group, ident }) => kind === ROW_NEST ? has('scope') : kind === 0 && (has(group) || has(ident)));
		this.crossing = null;	/* event that began one that goes on into other parts: [its thread, when it ends, who ends it] */
		if (!this.rows.includes(true) && !this.labels.includes(true))
			throw new Error('no span is called ' + text);
	}

	/* Those in part k, see(event that began it, from, to, event in the part that ends it, -1 if it goes on); to NaN: it is none. */
	each(k, see) {
		index.rows.forEach((row, r) => {
			const all = this.rows[r], nests = row.kind === ROW_NEST;
			if (nests || (all && row.has & HAS_SPANS))
				walkSpans(r, k, Infinity, (span, lane, time, told, _, e) => (all || this.labels[span.label]) &&
					see(span.event, span.from, told && !lostIn(r, span.from, time) ? time : NaN, e))
					.forEach((span, lane) => span && (all || this.labels[span.label]) &&
						see(span.event, span.from, Math.min(index.laneEnd.get(r + '/' + lane) ?? index.last, index.last), -1));
			if (row.kind === 0 && row.has & HAS_STATES)
				eachState(r, wholePart(k), (from, to, label, event, _, ended, e) => label && this.labels[label] &&
					see(event, from, !ended ? rowEnd(r) : lostIn(r, from, to) ? NaN : to, ended ? e : -1));
		});
	}

	async find(task) {
		const crossing = new Map();
		return await eachPart(0, index.chunks.length - 1, task, (k) => {
			const chunk = chunks.get(k);
			this.each(k, (event, from, to, e) => {
				if (e < 0 && event >= chunk.first)
					crossing.set(event, [chunk.thread(event - chunk.first), to, -1]);
				else if (e >= 0 && crossing.has(event))
					crossing.set(event, [crossing.get(event)[0], to, chunk.thread(e)]);
			});
		}) && (this.crossing = crossing);
	}

	/* For each event of a part how long; -1: it is within none. */
	of(chunk) {
		const stays = [], value = new Float64Array(chunk.n).fill(-1);
		this.each(chunk.number, (event, from, to, e) => {
			const [begun, until, ended] = this.crossing.get(event) ?? (event < chunk.first ? [] : [chunk.thread(event - chunk.first), to, chunk.thread(e)]);
			if (until >= from)
				new Set([begun, ended]).forEach((thread) => thread >= 0 && (stays[thread] ??= []).push({ from, until }));
		});
		stays.forEach((all) => all.sort((a, b) => a.from - b.from));
		const next = stays.map(() => 0), open = stays.map(() => []);
		for (let e = 0; e < chunk.n; e++) {
			const thread = chunk.thread(e), all = stays[thread], time = chunk.time[e];
			for (; all && next[thread] < all.length && all[next[thread]].from <= time; next[thread]++)
				open[thread].push(all[next[thread]]);
			if (open[thread]?.length) {
				open[thread] = open[thread].filter(({ until }) => until >= time);
				value[e] = open[thread].reduce((most, { from, until }) => Math.max(most, until - from), -1);
			}
		}
		return value;
	}
}

/* By name, for as long as the page is open. */
const spansNamed = new Map();

function namedSpans(text) {
	if (!spansNamed.has(text))
		spansNamed.set(text, new Named(text));
	return spansNamed.get(text);
}
