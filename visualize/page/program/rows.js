/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rows there are, how high they are, and what each shows between two moments: from events where
 * few enough chunks are in sight, else from the overview.
 */

const HAS_STATES = 1, HAS_SPANS = 2, HAS_COUNTERS = 4;
const LANES_MAX = 8;
const UNKNOWN = 65535;	/* a label: nobody knows which one it is */
const LEVEL_HEIGHT = 16;	/* [pixels] of a level of scopes, with what parts it from the next */

const view = {
	from: 0, to: 1,		/* what is in sight */
	top: 0,			/* [pixels] scrolled down */
	by: 'threads',
	lines: [], height: 0, pinned: 0,	/* [pixels] of all lines, and of pinned ones */
	current: null,		/* key of the line that keys are about */
	selected: null,		/* {event, time, line, bar} */
	measure: null,		/* {a, b, open: its second end follows the pointer} */
	notes: [],		/* {time, text} */
};

const byCpus = () => view.by === 'cpus';
const rowTable = () => byCpus() ? index.cpus : index.rows;


const spanNow = () => view.to - view.from;
const isNest = (row) => index.rows[row].nests;
const labelsNow = () => byCpus() ? index.threads : index.labels;

const rowOf = (line) => line.row >= 0 ? rowTable()[line.row] : null;
const marksOf = (line) => line.marks >= 0 ? rowTable()[line.marks] : null;
const lineOfRow = (row) => view.lines.find((line) => row >= 0 && line.row === row);

/* What a row is drawn as, and is looked for as; nothing, where it only has marks. */
const looksLike = (row) => !row ? '' : row.kind === ROW_CPU ? 'cpu' : row.nests ? 'scopes' : row.has & HAS_STATES ? 'states' :
	row.has & HAS_SPANS ? 'spans' : row.has & HAS_COUNTERS ? 'counter' : '';

/* Of a row of spans, or of scopes: {n, at: [pixels from the line's top] of a bar's lane, of: which one is at y on the plot}. */
function lanesOf(line, { nests, levels, lanes }) {
	const n = max(1, nests ? levels : min(lanes, LANES_MAX)), high = (line.height - 4) / n;
	return { n, of: (y) => floor((y - yOf(line) - 2) / high), at: (lane) => {
		const top = 2 + min(lane, n - 1) * high;
		return [top, top + high - (nests || n > 1 ? 1 : 0)];
	} };
}

function lineHeight(line) {
	const row = rowOf(line), like = looksLike(row);
	return !row ? (line.marks < 0 ? 24 : 18) : like === 'scopes' ? 4 + LEVEL_HEIGHT * max(1, row.levels) :
		like === 'spans' ? (row.lanes > 1 ? 4 + 13 * min(row.lanes, LANES_MAX) : 20) : row.has & HAS_COUNTERS ? 38 : 22;
}

/* A name has one colour, on all rows. */
const colourOf = (label) => (byCpus() ? index.thread_colours : index.colours)[label] ?? 0x999999;


/* The label of the spans in a lane: how many are open when all below it are taken. */
const laneLabel = (lane) => index.depths[lane] ?? 1;


/* ---- what falls into each column of pixels ---- */

/*
 * Of each column up to four labels with what part of the column they have. Set up for a number of
 * columns, filled by add(), read by whoever paints.
 */
class Columns {
	constructor(n) {
		this.resize(n);
	}

	resize(n) {
		if (this.n === n)
			return;
		/* One piece of memory: there are very many strips. Few of them have numbers. */
		const all = new ArrayBuffer(28 * n);
		this.n = n;
		this.weight = new Float32Array(all, 0, 4 * n);
		this.count = new Uint32Array(all, 16 * n, n);
		this.label = new Uint16Array(all, 20 * n, 4 * n);
		this.least = this.greatest = null;
	}

	clear() {
		this.label.fill(0);
		this.weight.fill(0);
		this.count.fill(0);
		this.least?.fill(Infinity);
		this.greatest?.fill(-Infinity);
	}

	/* What is in a column has all of it. */
	whole() {
		for (let at = 0; at < 4 * this.n; at += 4) {
			const sum = this.weight[at] + this.weight[at + 1] + this.weight[at + 2] + this.weight[at + 3];
			for (let i = at; sum > 0 && i < at + 4; i++)
				this.weight[i] /= sum;
		}
	}

	/* One label has so much of a column; a fourth one takes the place of all further ones. */
	put(x, label, weight) {
		const at = 4 * x;
		let i = at;
		while (i < at + 3 && this.weight[i] > 0 && this.label[i] !== label)
			i++;
		this.label[i] = label;
		this.weight[i] += weight;
	}

	/* A label from x0 to x1, in columns and parts of them. */
	add(x0, x1, label) {
		x0 = max(x0, 0);
		x1 = min(x1, this.n);
		if (!(x1 > x0) || label === 0)
			return;
		let first = floor(x0);
		const last = min(floor(x1), this.n - 1);
		if (first === last)
			return this.put(first, label, min(x1, last + 1) - x0);
		this.put(first, label, first + 1 - x0);
		for (first++; first < last; first++)
			this.put(first, label, 1);
		this.put(last, label, x1 - last);
	}

	/* A number from x0 to x1. */
	range(x0, x1, least, greatest) {
		const first = max(0, floor(x0)), end = min(this.n - 1, floor(x1));
		this.least ??= new Float64Array(this.n).fill(Infinity);
		this.greatest ??= new Float64Array(this.n).fill(-Infinity);
		for (let x = first; x <= end; x++) {
			this.least[x] = min(this.least[x], least);
			this.greatest[x] = max(this.greatest[x], greatest);
		}
	}
}

/*
 * A chunk that is narrow on the screen is drawn from a strip: what one row did in it, in a few columns
 * more than it has pixels, made once. Wider ones are drawn from their events.
 */
const STRIPS = [32, 128, 512];

function stripOf(chunk, key, n, many, sight, fill) {
	return chunk.strips.get(n + key) ?? once(() => {
		const strip = Array.from({ length: many }, () => new Columns(n));
		fill(strip, sight, (time) => (time - sight.from) * n / (sight.to - sight.from));
		chunk.strips.set(n + key, strip);
		return strip;
	});
}

/*
 * What is made once, and then is at hand, may take so long in a frame as a whole [ms]; what does not fit is null, and is made for the
 * next frames, while the overview is drawn. Where there is none, all of it is made at once.
 */
const ONCE = 6;
const making = { spent: 0, late: false };

function once(make) {
	const begin = performance.now();
	making.late ||= index.overview && making.spent > ONCE;
	const made = making.late ? null : make();
	making.spent += performance.now() - begin;
	return made;
}

function addStrip(columns, strip, x0, width) {
	const step = width / strip.n;
	for (let c = 0; c < strip.n; c++) {
		const from = x0 + c * step, to = from + step, a = floor(from), b = floor(to);
		if (b < 0 || a >= columns.n)
			continue;
		for (let i = 4 * c; i < 4 * c + 4 && strip.weight[i] > 0; i++) {
			const inA = a === b ? step : b - from;
			if (a >= 0)
				columns.put(a, strip.label[i], strip.weight[i] * inA);
			if (b > a && b < columns.n)
				columns.put(b, strip.label[i], strip.weight[i] * (step - inA));
		}
		if (a >= 0 && strip.count[c])
			columns.count[a] += strip.count[c];
		if (strip.least?.[c] <= strip.greatest?.[c])
			columns.range(from, from + step * 0.999, strip.least[c], strip.greatest[c]);
	}
}

/*
 * Draws each chunk in sight into the columns of one or more levels: fill(all columns, sight, at) does it for a sight of one chunk;
 * at(time) is where a moment is. key names what it does.
 */
function eachChunk(all, sight, key, fill) {
	const scale = all[0].n / (sight.to - sight.from);
	for (let k = sight.first; k <= sight.end; k++) {
		const chunk = chunkNow(k);
		const { from, to } = stretchOf(k), whole = { ...sight, from, to, first: k, end: k }, width = (to - from) * scale;
		if (!chunk)
			continue;
		const size = STRIPS.find((most) => width <= most);
		if (size)
			stripOf(chunk, key, size, all.length, whole, fill)?.forEach((strip, i) => addStrip(all[i], strip, (from - sight.from) * scale, width));
		else
			fill(all, { ...whole, from: max(from, sight.from), to: min(to, sight.to) }, (time) => (time - sight.from) * scale);
	}
}

/* ---- from events ---- */

/*
 * A state, or a counter's number, is known up to the first gap of the row's rings; from there on nobody knows what
 * came after it, until the row's next event. Returns when that is.
 */
const knownUntil = (number, from, to) => max(from, min(lostFrom(number, from) ?? to, to));

/* A span goes on behind a gap, as its end tells: see(from, to) for what lies in none. */
function outsideGaps(number, from, to, see) {
	const gaps = gapsOf(index.rows[number]);
	let at = from;
	for (let i = gapAfter(gaps, from); i < gaps.length && gaps[i][0] < to; i++) {
		if (gaps[i][0] > at || at === from)
			see(at, max(at, gaps[i][0]));
		at = gaps[i][1];
	}
	if (at < to || at === from)
		see(at, max(at, to));
}

/* First of order[from..to) whose time is at or after a moment. */
const firstAt = (chunk, order, from, to, time) => firstOf(from, to, (i) => chunk.time[order[i]] >= time);


/* Where what a row does ends: with its thread or process, or with the trace. */
const rowEnd = (number) => min(index.rows[number].end ?? index.last, index.last);


/* Where it ends in a part of the page, at the latest; NaN: before what is in sight of it. */
function rowEndIn(number, k, sight) {
	const end = rowEnd(number);
	return end < max(index.chunks[k].first, sight.from) ? NaN : min(end, k < sight.end ? index.chunks[k + 1].first : sight.to);
}

/* The parts in sight that are unpacked, and where a row's events are in each: order[first] to order[end - 1]. */
function* partsOf(what, number, sight) {
	for (let k = sight.first; k <= sight.end; k++) {
		const chunk = chunkNow(k);
		if (!chunk)
			continue;
		const { start, order } = chunk.list(what);
		yield { k, chunk, order, first: start[number], end: start[number + 1] };
	}
}

/*
 * Calls see(from, to, value, event number, part, whether the next one ends it, which that is in the part) for each stay in a state, or each number of a
 * counter, that is in sight, in order. Parts that are not unpacked yet are passed over.
 */
function eachValue(number, sight, kind, see) {
	for (const { k, chunk, order, first, end } of partsOf('ids', number, sight)) {
		const states = kind === KIND_STATE, until = rowEndIn(number, k, sight);
		const wanted = (i) => index.kinds[chunk.site[order[i]]] === kind;
		const before = stateBefore(number, k)[states ? 'state' : 'counter'];
		let value = before?.label ?? before?.value ?? (states ? 0 : NaN), from = before?.from ?? 0, event = before?.event ?? -1;
		let i = firstAt(chunk, order, first, end, k === sight.first ? sight.from : max(sight.from, index.chunks[k].first)), j = i - 1;
		const take = (e) => [value, from, event] = [states ? chunk.label[e] : chunk.countOf(e), chunk.time[e], chunk.first + e];
		while (j >= first && !wanted(j))
			j--;
		if (j >= first)
			take(order[j]);
		for (; i < end; i++) {
			const time = chunk.time[order[i]];
			if (!wanted(i))
				continue;
			see(from, time, value, event, k, true, order[i]);
			if (time > until)
				break;
			take(order[i]);
		}
		if (i === end && until > from)
			see(from, until, value, event, k, false);
	}
}

/* The value is the state's label, 0 while there is none; a number. */
const eachState = (number, sight, see) => eachValue(number, sight, KIND_STATE, see);
const eachNumber = (number, sight, see) => eachValue(number, sight, KIND_COUNTER, (from, to, value, event) => !isNaN(value) &&
	see(from, to, value, event));

/* When a span began whose START is event e of a chunk: a call that had to be long enough, before it (spans.h). */
const beganAt = (chunk, e) => chunk.time[e] - (chunk.siteOf(e).late ? Number(chunk.value(e, 1)) : 0);


/*
 * What the spans of a row do in part k up to a moment: end(span, lane, time, told, open, e) for each that ends, told if
 * its STOP, event e of the part, says so; span is {from, event number or -1, label of a scope's name}, open has those of all lanes.
 * Returns those that are open then. A span is told of for the moment: the next one in its lane takes its place.
 */
function walkSpans(number, k, until, end) {
	const chunk = chunks.get(k), { start, order } = chunk.lists.ids ?? chunk.list('spans'), { lane: lanes, time: times, site } = chunk, { kinds, sites } = index, ends = chunk.ends.get(number) ?? [];
	const open = [], own = [];
	let next = 0;
	const close = (lane, time, told, e) => {
		const span = open[lane];
		if (span)
			end(span, lane, time, told, open, e);
		open[lane] = null;
	};
	for (const span of stateBefore(number, k).spans)
		open[span.lane] = span;
	for (let i = start[number]; i < start[number + 1] && times[order[i]] <= until; i++) {
		const e = order[i], lane = lanes[e] - 1, kind = kinds[site[e]];
		for (; next < ends.length && ends[next].e <= e; next++)
			close(ends[next].lane, ends[next].time, false, e);
		if (lane < 0)
			continue;
		close(lane, times[e], kind === KIND_STOP, e);
		if (kind !== KIND_START)
			continue;
		const span = open[lane] = own[lane] ??= { from: NaN, event: -1, label: -1 };
		span.from = beganAt(chunk, e);
		span.event = chunk.first + e;
		span.label = sites[site[e]].scope;
	}
	for (; next < ends.length && ends[next].time <= until; next++)
		close(ends[next].lane, ends[next].time, false, chunk.n - 1);
	return open;
}

/* The same for spans: see(from, to, lane, event number or -1, whether it ends there, label of a scope's name). */
function eachSpan(number, sight, see) {
	for (let k = sight.first; k <= sight.end; k++) {
		if (!chunkNow(k))
			continue;
		const begin = max(sight.from, k === sight.first ? -Infinity : index.chunks[k].first);
		const stop = k < sight.end ? index.chunks[k + 1].first : sight.to;
		/* What is told of late may be in sight, and its START not. */
		const open = walkSpans(number, k, index.late ? Infinity : stop, (span, lane, time) => {
			if (time >= sight.from && span.from <= stop)
				see(span.from, time, lane, span.event, true, span.label);
		});
		open.forEach((span, lane) => {
			const last = min(stop, index.laneEnd.get(number + '/' + lane) ?? index.last);
			if (span && last >= span.from && last >= begin)
				see(span.from, last, lane, span.event, false, span.label);
		});
	}
}

/* Every event of a row that is in sight: see(chunk, index in it). */
function eachEvent(what, number, sight, see) {
	for (const { chunk, order, first, end } of partsOf(what, number, sight))
		for (let i = firstAt(chunk, order, first, end, sight.from); i < end && chunk.time[order[i]] <= sight.to; i++)
			see(chunk, order[i]);
}

/* What is in sight: {from, to, first and end chunk, detail: from events, missing: parts not unpacked}. */
function sightOf(from, to) {
	const n = index.nChunks, last = index.left_out ? index.chunks[n - 1]?.last : Infinity, beyond = to > last;
	const sight = { from, to, first: beyond ? chunkAt(from) : partAt(from), end: partAt(to), missing: 0, beyond: from > last };
	sight.detail = n > 0 && sight.first < n && sight.end - sight.first < DETAIL_CHUNKS && !beyond;
	/* Nothing more is unpacked where the overview has a column for each pixel, and nothing is asked for that it does not have. */
	const enough = (to - from) / index.span * index.columns > plotWidth() && !search.match && !flow.name;
	for (let k = sight.first; sight.detail && k <= sight.end; k++)
		sight.missing += index.overview && enough ? !chunks.has(k) : !chunkNow(k);
	/* What has been unpacked is shown alone only where there is nothing else to show. */
	if (sight.missing && index.overview)
		sight.detail = false;
	return sight;
}

/* ---- from the overview ---- */

/* see(column of the overview, from, to) where a row has any. */
function eachColumn(has, columns, sight, see) {
	const width = index.span / index.columns, scale = columns.n / (sight.to - sight.from);
	const first = max(0, floor(sight.from / width));
	const end = min(index.columns - 1, floor(sight.to / width));
	for (let c = first; has && c <= end; c++)
		see(c, (c * width - sight.from) * scale, ((c + 1) * width - sight.from) * scale);
}

/* The columns, whole ones, that lie from x0 to x1: the first and the last one. */
function across(x0, x1, columns) {
	const first = max(0, floor(x0));
	return [first, min(columns.n - 1, max(first, ceil(x1) - 1))];
}

function overviewLane(cells, columns, sight) {
	eachColumn(cells, columns, sight, (c, x0, x1) => {
		const share = cells.share[c], rest = cells.rest[c], part = min(1, x1 - x0) / 255, unknown = cells.unknown[c];
		const other = cells.covered[c] - share - rest, some = cells.first[c] !== 0;
		if (some && x1 - x0 > 1 && share > 250 && !rest && other <= 0 && !unknown)
			columns.add(x0, x1, cells.first[c]);
		else if (some || unknown)
			/* Several labels lie next to each other in any order: they are layers of the whole column. */
			for (let [x, end] = across(x0, x1, columns); x <= end; x++) {
				if (unknown)
					columns.put(x, UNKNOWN, unknown * part);
				if (some)
					columns.put(x, cells.first[c], share * part);
				if (some && rest)
					columns.put(x, cells.second[c], rest * part);
				if (some && other > 0)
					columns.put(x, 1, other * part);
			}
	});
}

function overviewArea(area, columns, sight) {
	eachColumn(area, columns, sight, (c, x0, x1) => {
		if (!isNaN(area.least[c]))
			columns.range(x0, x1 - 1e-6, area.least[c], area.greatest[c]);
	});
}

function overviewCounts(counts, columns, sight) {
	eachColumn(counts, columns, sight, (c, x0, x1) => {
		const wide = max(1, ceil(x1) - floor(x0));
		for (let [x, end] = across(x0, x1, columns); counts[c] && x <= end; x++)
			columns.count[x] += max(1, round(counts[c] / wide));
	});
}
