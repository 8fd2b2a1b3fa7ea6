/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the longest span of a name takes that an event is within, as analyze/filter/filter_spans.c has it: a thread is
 * within a span that it began or ended. Spans that end in the part that they began in are found there; of those that go on into
 * other parts the worker keeps where they end, which it looks ahead for, and the page gets that with the answer.
 */

/* Where an event of a span's row is lost between its ends, these may be of two spans. */
function lostIn(row, from, to) {
	const gaps = gapsOf(index.rows[row]), gap = gaps.length && gaps[gapAfter(gaps, from)];
	return gap && gap[0] < to;
}

class Named {
	constructor(text) {
		const pattern = patternOf(text), has = (name) => pattern.test(name);
		this.labels = index.labels.map(has);
		this.rows = index.rows.map(({ kind, group, ident }) => kind === ROW_NEST ? has('scope') : kind === 0 && (has(group) || has(ident)));
		this.crossing = new Map();	/* event that began one that goes on into other parts: [its thread, when it ends, who ends it] */
		this.open = new Set();	/* of these, whose end is in none of the parts that were looked at */
		this.scanned = 0;	/* how many these are */
		this.room = new Float64Array(1 << 16);	/* bars of a part, while they are collected */
		this.any = this.labels.includes(true);
		if (!this.rows.includes(true) && !this.any)
			throw new Error('no span is called ' + text);
	}

	/* Those in part k, see(event that began it, from, to, event in the part that ends it, -1 if it goes on); to NaN: it is none. */
	each(k, see) {
		index.rows.forEach((row, r) => {
			const all = this.rows[r], nests = row.kind === ROW_NEST && (all || this.any);
			if (nests || (all && row.has & HAS_SPANS))
				walkSpans(r, k, Infinity, (span, lane, time, told, _, e) => (all || this.labels[span.label]) &&
					see(span.event, span.from, told && !lostIn(r, span.from, time) ? time : NaN, e))
					.forEach((span, lane) => span && (all || this.labels[span.label]) &&
						see(span.event, span.from, min(index.laneEnd.get(r + '/' + lane) ?? index.last, index.last), -1));
			if (row.kind === 0 && row.has & HAS_STATES && this.any)
				eachState(r, wholePart(k), (from, to, label, event, _, ended, e) => label && this.labels[label] &&
					see(event, from, !ended ? rowEnd(r) : lostIn(r, from, to) ? NaN : to, ended ? e : -1));
		});
	}

	/* What part k tells of them, four numbers each: event that began it, from, to, event in the part that ends it. */
	bars(chunk) {
		let n = 0;
		if (!chunk.bars.has(this)) {
			this.each(chunk.number, (event, from, to, e) => {
				if (n === this.room.length) {
					const { room } = this;
					this.room = new Float64Array(2 * n);
					this.room.set(room);
				}
				this.room[n++] = event;
				this.room[n++] = from;
				this.room[n++] = to;
				this.room[n++] = e;
			});
			chunk.bars.set(this, this.room.slice(0, n));
		}
		return chunk.bars.get(this);
	}

	scan(chunk) {
		const bars = this.bars(chunk), { crossing, open } = this;
		for (let i = 0; i < bars.length; i += 4) {
			const event = bars[i], to = bars[i + 2], e = bars[i + 3], known = crossing.get(event);
			if (e < 0 && event >= chunk.first)
				open.add(event) && crossing.set(event, [chunk.thread(event - chunk.first), to, -1]);
			else if (e >= 0 && known)
				open.delete(event) && crossing.set(event, [known[0], to, chunk.thread(e)]);
		}
	}

	/* Is it known how long those take that are in part k? Of those that go on, the first in open began first. */
	knows(k) {
		const n = index.chunks.length, [first] = this.open;
		return this.scanned >= n || (this.scanned > k && !(first < (index.chunks[k + 1]?.firstEvent ?? Infinity)));
	}

	/* Looks at parts until that is known; false if the task was stopped before. */
	async ahead(k, task) {
		while (!this.knows(k)) {
			const chunk = await chunkLater(this.scanned);
			if (task.stopped)
				return false;
			/* Another search may have done it meanwhile. */
			if (chunk.number === this.scanned) {
				this.scan(chunk);
				this.scanned++;
			}
			task.done?.(task.share(k));
		}
		return true;
	}

	/* Those of a part by thread, two numbers each, in the order of their begins. */
	stays(chunk) {
		const bars = this.bars(chunk), stays = [];
		const put = (thread, from, until) => until >= from && thread >= 0 &&
			(stays[thread] ??= { all: [], next: 0, open: [], least: Infinity, most: NaN }).all.push(from, until);
		for (let i = 0; i < bars.length; i += 4) {
			const event = bars[i], crossing = this.crossing.get(event);
			if (!crossing && event < chunk.first)
				continue;
			const begun = crossing ? crossing[0] : chunk.thread(event - chunk.first), ended = crossing ? crossing[2] : chunk.thread(bars[i + 3]);
			put(begun, bars[i + 1], crossing ? crossing[1] : bars[i + 2]);
			if (ended !== begun)
				put(ended, bars[i + 1], crossing ? crossing[1] : bars[i + 2]);
		}
		for (const stay of stays.filter(Boolean)) {
			const { all } = stay, order = new Uint32Array(all.length / 2).map((_, i) => 2 * i).sort((a, b) => all[a] - all[b]);
			stay.all = new Float64Array(all.length);
			order.forEach((at, i) => {
				stay.all[2 * i] = all[at];
				stay.all[2 * i + 1] = all[at + 1];
			});
		}
		return stays;
	}

	/* How long the longest takes that an event of a part is within; NaN: it is within none. Events are asked for in order. */
	took(chunk, e) {
		let within = chunk.within.get(this);
		if (!within || e < within.e)
			chunk.within.set(this, within = { e, stays: this.stays(chunk) });
		within.e = e;
		const of = within.stays[chunk.thread(e)], time = chunk.time[e];
		if (!of)
			return NaN;
		const { all, next, least, open } = of;
		for (; all[of.next] <= time; of.next += 2)
			if (all[of.next + 1] >= time)
				open.push(of.next);
		if (next < of.next || least < time) {
			let n = 0, most = -1;
			of.least = Infinity;
			for (const at of open)
				if (all[at + 1] >= time) {
					open[n++] = at;
					of.least = min(of.least, all[at + 1]);
					most = max(most, all[at + 1] - all[at]);
				}
			open.length = n;
			of.most = n ? most : NaN;
		}
		return of.most;
	}
}

/* By name, for as long as the page is open. */
const spansNamed = new Map();

function namedSpans(text) {
	if (!spansNamed.has(text))
		spansNamed.set(text, new Named(text));
	return spansNamed.get(text);
}
