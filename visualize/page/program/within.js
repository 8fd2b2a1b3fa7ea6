/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the longest span of a name takes that an event is within, as analyze/filter/filter_spans.c has it: a thread is
 * within a span that it began or ended. Spans that end in the part that they began in are found there; of those that go on into
 * other parts the worker keeps where they end, which it looks ahead for, and the page gets that with the answer.
 */

/* Where an event of a span's row is lost between its ends, these may be of two spans. */
const lostIn = (row, from, to) => lostFrom(row, from) < to;

class Named {
	constructor(text) {
		const pattern = patternOf(text), has = (name) => pattern.test(name);
		this.labels = index.labels.map(has);
		this.rows = index.rows.map(({ kind, group, ident }) => kind === ROW_NEST ? has('scope') : kind === 0 && (has(group) || has(ident)));
		this.crossing = new Map();	/* event that began one that goes on into other parts: [its thread, when it ends, who ends it] */
		this.open = new Set();	/* of these, whose end is in none of the parts that were looked at */
		this.scanned = 0;	/* how many these are */
		this.room = new Float64Array(1 << 18);	/* bars of a part, while they are collected */
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
		return kept(chunk.bars, this, () => {
			let n = 0;
			this.each(chunk.number, (event, from, to, e) => {
				if (n + 4 > this.room.length)
					this.room = Float64Array.from({ length: 2 * n }, (_, i) => this.room[i]);
				const { room } = this;
				room[n++] = event;
				room[n++] = from;
				room[n++] = to;
				room[n++] = e;
			});
			return this.room.slice(0, n);
		});
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

	/* Bars of a part by where they begin: the last one at each event, and the one before it at the same; both from 1 on. */
	begins(chunk, bars) {
		const { n, first, time } = chunk, last = new Uint32Array(n + 1), before = new Uint32Array(bars.length / 4 + 1);
		for (let i = 0; i < bars.length; i += 4) {
			const from = bars[i + 1];
			let e = max(0, bars[i] - first);
			/* What began at the same moment, or was told of late, is within it, too. */
			if (e > 0 && time[e - 1] >= from)
				e = firstOf(0, e, (k) => time[k] >= from);
			before[i / 4 + 1] = last[e];
			last[e] = i / 4 + 1;
		}
		return { last, before };
	}

	/* How long the longest takes that each event of a part is within; NaN: it is within none. */
	longest(chunk) {
		const bars = this.bars(chunk), { n, first, time, track } = chunk, { trackThread, nThreads } = index, out = new Float64Array(n);
		const { last, before } = this.begins(chunk, bars), open = Array.from({ length: nThreads }, () => []), many = new Uint32Array(nThreads);
		/* Of each thread, of the bars that it is within: when the first of them ends, and how long the longest takes. */
		const until = new Float64Array(nThreads).fill(Infinity), most = new Float64Array(nThreads).fill(NaN);
		const see = (thread, at) => {
			until[thread] = min(until[thread], bars[at + 2]);
			if (!(bars[at + 2] - bars[at + 1] <= most[thread]))
				most[thread] = bars[at + 2] - bars[at + 1];
			open[thread][many[thread]++] = at;
		};
		for (let e = 0; e < n; e++) {
			const now = time[e], thread = trackThread[track[e]], mine = open[thread];
			for (let b = last[e]; b > 0; b = before[b]) {
				const at = 4 * (b - 1), event = bars[at], own = event >= first, crossing = own && bars[at + 3] >= 0 ? null : this.crossing.get(event);
				if (crossing)
					bars[at + 2] = crossing[1];
				if ((!crossing && !own) || !(bars[at + 2] >= bars[at + 1]))
					continue;
				const begun = crossing ? crossing[0] : trackThread[track[event - first]], ended = crossing ? crossing[2] : trackThread[track[bars[at + 3]]];
				see(begun, at);
				if (ended !== begun && ended >= 0)
					see(ended, at);
			}
			if (until[thread] < now) {
				const n = many[thread];
				many[thread] = 0;
				until[thread] = Infinity;
				most[thread] = NaN;
				for (let i = 0; i < n; i++)
					if (bars[mine[i] + 2] >= now)
						see(thread, mine[i]);
			}
			out[e] = most[thread];
		}
		return out;
	}

	/* The same of one event; those of a part are asked for together. */
	took(chunk, e) {
		if (this.of !== chunk)
			Object.assign(this, { of: chunk, most: this.longest(chunk) });
		return this.most[e];
	}
}

/* By name, for as long as the page is open. */
const spansNamed = new Map();

const namedSpans = (text) => kept(spansNamed, text, () => new Named(text));
