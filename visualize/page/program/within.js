/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the longest span of a name takes that an event is within, as analyze/filter/filter_spans.c has it: a thread is
 * within a span that it began or ended. Spans that end in the part that they began in are found there; of those that go on into
 * other parts the worker keeps where they end, which it looks ahead for, and the page gets that with the answer.
 */

class Named {
	constructor(text) {
		const pattern = patternOf(text), has = (name) => pattern.test(name);
		this.labels = index.labels.map(has);
		this.rows = index.rows.map(({ kind, group, ident, nests }) => nests ? has('scope') : kind === 0 && (has(group) || has(ident)));
		this.crossing = new Map();	/* event that began one that goes on into other parts: [its thread, when it ends, who ends it] */
		this.open = new Set();	/* of these, whose end is in none of the parts that were looked at */
		this.scanned = 0;	/* how many these are */
		this.room = new Float64Array(4096);	/* for the bars of a part, however many */
		this.any = this.labels.includes(true);
		if (!this.rows.includes(true) && !this.any)
			throw new Error('no span is called ' + text);
	}

	/* Those in part k, see(event that began it, from, to, event in the part that ends it, -1 if it goes on); to NaN: it is none. */
	each(k, see) {
		index.rows.forEach((row, r) => {
			/* Where an event of a span's row is lost between its ends, these may be of two spans. */
			const all = this.rows[r], gaps = gapsOf(row).length, lost = (from, to) => gaps && lostFrom(r, from) < to, nests = row.nests && (all || this.any);
			if (nests || (all && row.has & HAS_SPANS))
				walkSpans(r, k, Infinity, (span, lane, time, told, _, e) => (all || this.labels[span.label]) &&
					see(span.event, span.from, told && !lost(span.from, time) ? time : NaN, e))
					.forEach((span, lane) => span && (all || this.labels[span.label]) &&
						see(span.event, span.from, min(index.laneEnd.get(r + '/' + lane) ?? index.last, index.last), -1));
			if (row.kind === 0 && row.has & HAS_STATES && this.any)
				eachState(r, wholePart(k), (from, to, label, event, _, ended, e) => label && this.labels[label] &&
					see(event, from, !ended ? rowEnd(r) : lost(from, to) ? NaN : to, ended ? e : -1));
		});
	}

	/* What part k tells of them, four numbers each: event that began it, from, to, event in the part that ends it. */
	barsOf(chunk) {
		return kept(chunk.bars, this, () => {
			let n = 0, { room } = this;
			this.each(chunk.number, (event, from, to, e) => {
				if (n === room.length) {
					this.room = new Float64Array(2 * n);
					this.room.set(room);
					room = this.room;
				}
				room[n++] = event;
				room[n++] = from;
				room[n++] = to;
				room[n++] = e;
			});
			const bars = arrayFor(Float64Array, n);
			bars.set(room.subarray(0, n));
			return bars;
		});
	}

	scan(chunk) {
		const bars = this.barsOf(chunk), { crossing, open } = this;
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
		const n = index.nChunks, [first] = this.open;
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

	/* Bars of a part by where they begin: the last one at each event, and the one before it at the same; both from 1 on. */
	beginsOf(chunk) {
		const { n, first, time } = chunk, bars = this.barsOf(chunk), before = new Uint32Array(bars.length / 4 + 1);
		const last = this.begins?.last.length > n ? this.begins.last.fill(0) : new Uint32Array(n + 1);
		for (let b = 1; 4 * b <= bars.length; b++) {
			const from = bars[4 * b - 3];
			let e = max(0, bars[4 * b - 4] - first);
			/* What began at the same moment, or was told of late, is within it, too. */
			if (e > 0 && time[e - 1] >= from)
				e = firstOf(0, e, (k) => time[k] >= from);
			before[b] = last[e];
			last[e] = b;
		}
		return { last, before };
	}

	/* A thread is within a bar: of those that it is within the longest one comes first, and each ends before the next one; others never count. */
	enter(thread, from, to) {
		const all = this.within[thread] ??= [], bar = { to, took: to - from };
		while (all.length > 0 && all[0].to < from)
			all.shift();
		let i = all.length;
		while (i > 0 && all[i - 1].took <= bar.took)
			i--;
		if (i > 0 && all[i - 1].to >= to)
			return;
		if (i < all.length)
			all.push(bar, ...all.splice(i).filter((other) => other.to > to));
		else
			all.push(bar);
	}

	/* Whoever is within the bar of a part that is number at of its numbers. */
	begin(at) {
		const { bars, of: { first, track } } = this, { trackThread } = index, event = bars[at], from = bars[at + 1], e = bars[at + 3];
		const own = event >= first, known = own && e >= 0 ? null : this.crossing.get(event), to = known ? known[1] : bars[at + 2];
		if (!(known || own) || !(to >= from))
			return;
		const thread = known ? known[0] : trackThread[track[event - first]], ender = known ? known[2] : trackThread[track[e]];
		this.enter(thread, from, to);
		if (ender !== thread && ender >= 0)
			this.enter(ender, from, to);
	}

	/* How long the longest takes that an event is within, NaN if it is within none: of a part's events in order. */
	took(chunk, e) {
		if (this.of !== chunk || e < this.last)
			Object.assign(this, { of: chunk, at: 0, within: [], bars: this.barsOf(chunk), begins: this.beginsOf(chunk) });
		const { last, before } = this.begins;
		for (; this.at <= e; this.at++)
			for (let b = last[this.at]; b > 0; b = before[b])
				this.begin(4 * (b - 1));
		const mine = this.within[chunk.thread(e)];
		this.last = e;
		while (mine?.length && mine[0].to < chunk.time[e])
			mine.shift();
		return mine?.length ? mine[0].took : NaN;
	}
}

/* By name, for as long as the page is open. */
const spansNamed = new Map();

const namedSpans = (text) => kept(spansNamed, text, () => new Named(text));
