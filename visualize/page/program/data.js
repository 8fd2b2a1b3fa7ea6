/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the page holds: the index, the states of rows before each chunk, the overview, and chunks of
 * events, which are unpacked when they are looked at. visualize/page/packer.h has the layout. Times are
 * nanoseconds since the page's beginning.
 */

const KIND_EVENT = 0, KIND_STATE = 1, KIND_COUNTER = 2, KIND_POINT = 3, KIND_START = 4, KIND_STOP = 5;
const ROW_CPU = 2, ROW_NEST = 3;
const DETAIL_CHUNKS = 48, KEPT = 4;	/* KTR__PAGE_DETAIL; out of sight */

let index;	/* the index, with names for the members of its tables */

/* The first number from low on for which something holds that holds for all behind it, too; high, if it does for none. */
function firstOf(low, high, holds) {
	while (low < high) {
		const mid = (low + high) >> 1;
		if (holds(mid))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* What a map has, made when it is first asked for. */
function kept(map, key, make) {
	let value = map.get(key);
	if (value === undefined)
		map.set(key, value = make());
	return value;
}

/* To whom takes the next array of that size, if as many are not waiting already. */
function giveBack(buffer) {
	const alike = kept(spare, buffer.byteLength, () => []);
	if (alike.length < spareMost)
		alike.push(buffer);
	else
		buffer.transfer?.(0);
}

const addTo = (sums, key, more) => sums.set(key, (sums.get(key) ?? 0) + more);

/* Numbers of seven bits per byte. */
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}
	next() {
		const b = this.bytes;
		let c = b[this.at++], n = c & 127, unit = 128;
		for (; c > 127; unit *= 128) {
			c = b[this.at++];
			n += (c & 127) * unit;
		}
		return n;
	}
	signed() {
		const n = this.next();
		return n % 2 ? -(n + 1) / 2 : n / 2;
	}
	double() {
		const low = this.next();
		return new Float64Array(new Uint32Array([low, this.next()]).buffer)[0];
	}
	part() {
		const n = this.next();
		this.at += n;
		return this.bytes.subarray(this.at - n, this.at);
	}
}

/* A column of differences as 64-bit words: {words, halves: the lower and the upper one of each, signed, doubles}. */
function wordsOf64(bytes, n) {
	const words = arrayFor(BigUint64Array, n), { buffer } = words, half = new Uint32Array(buffer, 0, 2 * n);
	let lo = 0, hi = 0, at = 0;
	for (let i = 0; i < n; i++) {
		let l = 0, h = 0, shift = 0, c;
		do {
			c = bytes[at++];
			if (shift < 32)
				l |= (c & 127) << shift;
			if (shift > 24)
				h |= shift < 32 ? (c & 127) >>> 4 : (c & 127) << (shift - 32);
			shift += 7;
		} while (c > 127);
		const sign = -(l & 1);
		const low = (((l >>> 1) | (h << 31)) ^ sign) >>> 0;
		const sum = (lo >>> 0) + low;
		hi = (hi + ((h >>> 1) ^ sign) + (sum > 4294967295 ? 1 : 0)) | 0;
		lo = sum | 0;
		half[2 * i] = lo;
		half[2 * i + 1] = hi;
	}
	return { words, halves: half, signed: new BigInt64Array(buffer, 0, n), doubles: new Float64Array(buffer, 0, n) };
}

/* A column of numbers, or of sums of them, into out. */
function numbersOf(bytes, out, adds) {
	const r = new Numbers(bytes);
	for (let i = 0, now = 0; i < out.length; i++)
		out[i] = now = adds * now + r.next();
	return out;
}

/* Numbers as they are packed are themselves where each takes one byte. */
const plainNumbers = (bytes, n, Of) => bytes.length === n ? bytes : numbersOf(bytes, arrayFor(Of, n), 0);

/* What so many different numbers need. */
const arrayOf = (many) => many > 65536 ? Uint32Array : many > 256 ? Uint16Array : Uint8Array;

const utf8 = new TextDecoder();

class Chunk {
	constructor(number, bytes) {
		const r = new Numbers(bytes);
		const n = r.next();
		this.number = number;
		this.first = index.chunks[number].firstEvent;
		this.n = n;
		this.time = numbersOf(r.part(), arrayFor(Float64Array, n), 1);
		/* What has been read is not kept. */
		r.bytes = arrayFor(Uint8Array, bytes.length - r.at);
		r.bytes.set(bytes.subarray(r.at));
		r.at = 0;
		giveBack(bytes.buffer);
		this.site = plainNumbers(r.part(), n, arrayOf(index.sites.length));
		this.track = plainNumbers(r.part(), n, arrayOf(index.tracks.length));
		this.laneBytes = r.part();
		this.readEnds(new Numbers(r.part()));
		this.indexBytes = r.part();
		this.readStrings(r);
		this.columns = new Map();
		for (let i = r.next(); i > 0; i--) {
			const s = r.next();
			this.columns.set(s, index.sites[s].args.map(() => ({ bytes: r.part() })));
		}
		this.lists = {};
		this.strips = new Map();
		this.hits = null;
		this.bars = new Map();	/* of spans, which there are */
	}

	/* In which lane an event begins or ends a span, from 1 on. */
	get lane() {
		return this.lanes ?? this.readLanes();
	}

	readLanes() {
		const r = new Numbers(this.laneBytes), { n, site } = this, { kinds } = index, lanes = this.lanes = arrayFor(index.Lanes, n);
		for (let e = 0; e < n; e++)
			lanes[e] = kinds[site[e]] >= KIND_START ? r.next() : 0;
		return lanes;
	}

	/* Spans that end at an event that is not their STOP: of each row {e, lane, time}, in order. */
	readEnds(r) {
		this.ends = new Map();
		for (let e = 0; r.at < r.bytes.length;) {
			e += r.next();
			const row = r.next(), lane = r.next(), time = this.time[e] - r.next();
			kept(this.ends, row, () => []).push({ e, lane, time });
		}
	}

	/* Each event's running number in its ring. */
	indices() {
		const r = new Numbers(this.indexBytes), next = [];
		return this.index ??= Float64Array.from(this.track, (t) => {
			const { cpu, keep } = index.tracks[t], ring = 2 * cpu + keep, number = (next[ring] ?? 0) + r.signed();
			next[ring] = number + 1;
			return number;
		});
	}

	readStrings(r) {
		const n = r.next(), { bytes } = r;
		this.bytes = bytes;
		this.stringFlag = arrayFor(Uint8Array, n);
		this.stringEnds = arrayFor(Uint32Array, 2 * n);	/* where each begins and ends */
		this.stringText = new Array(n);
		for (let i = 0; i < n; i++) {
			this.stringFlag[i] = r.next();
			const long = r.next();
			this.stringEnds[2 * i] = r.at;
			this.stringEnds[2 * i + 1] = r.at += long;
		}
	}

	/* Which of its site's events in this chunk each one is. */
	get ordinal() {
		return this.ordinals ?? this.numberEvents();
	}

	numberEvents() {
		const count = this.siteCount = new Uint32Array(index.sites.length), ordinals = this.ordinals = arrayFor(Uint16Array, this.n);	/* KTR__PACKER_EVENTS fit */
		for (let i = 0; i < this.n; i++)
			ordinals[i] = count[this.site[i]]++;
		return ordinals;
	}

	/* A string as recorded; as it is shown with mark, that is with what tells that it is not whole. Where there was none: nothing. */
	string(i, mark, nothing = mark ? '(null)' : '') {
		if (this.stringText[i] === undefined)
			this.stringText[i] = utf8.decode(this.bytes.subarray(this.stringEnds[2 * i], this.stringEnds[2 * i + 1]));
		return this.stringFlag[i] === 2 ? nothing : this.stringText[i] + (mark && this.stringFlag[i] ? '...' : '');
	}

	/* All values of a site's argument; kept for who asks for them one by one. */
	column(site, arg) {
		const column = this.columns.get(site)[arg];
		return column.words ? column : Object.assign(column, this.values(site, arg));
	}

	values(site, arg) {
		/* With ordinals there is siteCount. */
		return wordsOf64(this.columns.get(site)[arg].bytes, this.ordinal && this.siteCount[site]);
	}

	/* An argument of an event: a string as string() has it, a number (of doubles), or a big integer. */
	value(e, i, mark, nothing) {
		const s = this.site[e], n = this.ordinal[e], { type } = index.sites[s].args[i], { words, halves, signed, doubles } = this.column(s, i);
		return type === 's' || type === 'k' ? this.string(halves[2 * n], mark, nothing) : (type === 'f' ? doubles : type === 'i' ? signed : words)[n];
	}

	args(e) {
		return this.siteOf(e).args.map((_, i) => this.value(e, i, true));
	}

	/* In the table of arguments, and in a search for it. */
	valueText(e, i) {
		const value = this.value(e, i, true);
		return this.siteOf(e).args[i].type === 'p' ? pointerText(value, this.pid(e)) : String(value);
	}

	siteOf(e) {
		return index.sites[this.site[e]];
	}

	trackOf(e) {
		return index.tracks[this.track[e]];
	}

	thread(e) {
		return index.trackThread[this.track[e]];
	}

	pid(e) {
		return this.trackOf(e).pid;
	}

	message(e) {
		return messageOf(this.siteOf(e), this.args(e), this.pid(e));
	}

	/*
	 * Events by row: {row, start, order}, such that those of row r are order[start[r]] to
	 * order[start[r + 1] - 1]. What: 'ids', 'spans', of these but what begins and ends spans, 'threads' or 'cpus'.
	 */
	list(what) {
		const least = { ids: KIND_STATE, spans: KIND_START }[what];
		return this.lists[what] ??= sortByRow(least ? this.rowsOfIds(least) : this.rowsOfTracks(what), index[what === 'cpus' ? what : 'rows'].length);
	}

	rowsOfTracks(what) {
		const of = index.tracks.map(({ cpu, row }) => what === 'cpus' ? index.cpuRow.get(cpu) ?? -1 : row), rows = arrayFor(index.Row, this.n);
		for (let e = 0; e < this.n; e++)
			rows[e] = of[this.track[e]];
		return rows;
	}

	/* The row of each event of the KTR_STATE family. */
	rowsOfIds(least) {
		const { n, site, track, ordinal } = this, { kinds, tracks } = index, row = arrayFor(index.Row, n).fill(-1), finders = [];
		for (let e = 0; e < n; e++) {
			const s = site[e];
			if (kinds[s] < least)
				continue;
			const { names, known, find } = finders[s] ??= this.rowFinder(s), string = names ? names[2 * ordinal[e]] : 0;
			row[e] = known[string * tracks.length + track[e]] ??= find(tracks[track[e]], string);
		}
		finders.forEach(({ names }) => names && giveBack(names.buffer));
		return row;
	}

	/* What state an event begins. */
	get label() {
		return this.labels ?? this.readLabels();
	}

	readLabels() {
		const columns = [], known = [], labels = this.labels = arrayFor(index.Labels, this.n).fill(0), { ordinal } = this;
		for (let e = 0; e < this.n; e++) {
			const s = this.site[e];
			if (index.kinds[s] !== KIND_STATE)
				continue;
			const string = (columns[s] ??= this.values(s, index.sites[s].valueArg).halves)[2 * ordinal[e]];
			labels[e] = known[string] ??= index.labelOf.get(clip(this.string(string, false) || '(none)')) ?? 1;
		}
		columns.forEach(({ buffer }) => giveBack(buffer));
		return labels;
	}

	/* A counter's value; what has no height is none. */
	countOf(e) {
		const number = Number(this.value(e, this.siteOf(e).valueArg));
		return isFinite(number) ? number : NaN;
	}

	/* Of a site's events the row by its name, if they have one each, and track: find it, and those that are known. */
	rowFinder(s) {
		const { scope, group, ident } = index.sites[s], names = scope < 0 && ident === null ? this.values(s, 0).halves : null;
		return { names, known: [], find: ({ nest, pid }, string) => scope >= 0 ? nest :
			index.rowOf.get(pid + '/' + group + '/' + (ident ?? this.string(string, false))) ?? -1 };
	}
}

/* The numbers of rows for which something holds. */
const rowsWith = (holds) => index.rows.map((_, i) => i).filter((i) => holds(index.rows[i]));


/* A label's text in the index is cut to what KTR__LABEL_BYTES holds. */
const clip = (text) => text.length < 150 ? text : index.clipped.find((label) => text.startsWith(label)) ?? text;


function sortByRow(row, n) {
	const start = new Uint32Array(n + 1), order = arrayFor(Uint16Array, row.length);
	for (let i = 0; i < row.length; i++)
		if (row[i] >= 0)
			start[row[i] + 1]++;
	for (let r = 0; r < n; r++)
		start[r + 1] += start[r];
	const at = start.slice();
	for (let i = 0; i < row.length; i++)
		if (row[i] >= 0)
			order[at[row[i]]++] = i;
	return { start, order, row };
}

/* ---- chunks on demand ---- */

const chunks = new Map();	/* unpacked ones, the longest unused first */
const coming = new Map();	/* number to promise */
let chunkCame = null;	/* called when one that was asked for has come, where they are drawn */
let chunkMake = async (number) => new Chunk(number, await unpack('c' + number));

/* The memory of a part: what is given away, or given back at once, needs nobody to find out that it is not used any more. */
function buffersOf(chunk) {
	const views = [chunk, [...chunk.bars.values()], ...Object.values(chunk.lists), ...[...chunk.columns.values(), ...chunk.strips.values()].flat()].flatMap(Object.values);
	return [...new Set(views.filter(ArrayBuffer.isView).map(({ buffer }) => buffer))];
}

/*
 * Those in sight stay, where so many are drawn, and so many others; all, where they alone are drawn. Of those that nobody has asked for for
 * the longest time nothing is left: nobody keeps one while waiting.
 */
function chunksLeave() {
	const { first, end } = view.sight ?? {};
	const others = [...chunks].filter(([k]) => !(k >= first && k <= end && end - first < DETAIL_CHUNKS));
	for (const [old, gone] of others.slice(0, index.overview || spareMost ? -KEPT : 0)) {
		chunks.delete(old);
		buffersOf(gone).forEach(giveBack);
	}
}

async function chunkLoad(number) {
	const chunk = await chunkMake(number);
	chunks.set(number, chunk);
	chunksLeave();
	return chunk;
}

/* One that is at hand; it was used last then. */
function chunkUsed(number) {
	const chunk = chunks.get(number);
	if (chunk && chunks.delete(number))
		chunks.set(number, chunk);
	return chunk;
}

/* The chunk; nothing while it is on its way. */
function chunkNow(number) {
	const chunk = chunkUsed(number);
	if (!chunk)
		chunkLater(number).catch(() => {});
	return chunk;
}

function chunkLater(number) {
	const chunk = chunkUsed(number);
	return chunk ? Promise.resolve(chunk) : kept(coming, number, () => chunkLoad(number).finally(() => {
		coming.delete(number);
		chunkCame?.();
	}));
}

/* The first chunk that ends at or after a moment; the number of chunks when there is none. */
const chunkAt = (time) => firstOf(0, index.nChunks, (k) => index.chunks[k].last >= time);


/* The same, but the last one when there is none. */
const partAt = (time) => min(chunkAt(time), index.nChunks - 1);

/* From when to when a chunk tells of everything: up to the next one. */
function stretchOf(k) {
	const { first, last } = index.chunks[k];
	return { from: k === 0 ? min(0, first) : first, to: index.chunks[k + 1]?.first ?? max(index.last, last) + 1 };
}

/* Event number to chunk number. */
function chunkOf(event) {
	return firstOf(1, index.nChunks, (k) => index.chunks[k].firstEvent > event) - 1;
}

/* The one that an event is in, if it is at hand. */
const chunkWith = (event) => event >= 0 ? chunks.get(chunkOf(event)) : undefined;

/* ---- index, states, overview ---- */

/* Arrays of a table of the index as objects. */
function named(table, rows) {
	const names = index.members[table].split(' ');
	return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
}

const gapsKnown = new Map();	/* by rings: few sets of them are different */

/* [from, to] in which one of a row's rings lost events, in order and apart. */
const gapsOf = (row) => row.gaps ??= kept(gapsKnown, row.rings.join(), () => gapsIn(row.rings));

function gapsIn(rings) {
	const gaps = [];
	for (const { from, to, ring } of index.losses) {
		const last = gaps[gaps.length - 1];
		if (!rings.includes(ring))
			continue;
		if (last && from <= last[1])
			last[1] = max(last[1], to);
		else
			gaps.push([from, to]);
	}
	return gaps;
}

/* The number of the first of them that ends after a moment; how many there are, if none does. */
const gapAfter = (gaps, time) => firstOf(0, gaps.length, (i) => gaps[i][1] > time);

/* When a row's first loss begins that goes on after a moment; undefined: there is none. */
function lostFrom(row, time) {
	const gaps = gapsOf(index.rows[row]);
	return gaps[gapAfter(gaps, time)]?.[0];
}

function indexRead(text) {
	index = JSON.parse(text);
	const name = (of) => Object.keys(index.members).forEach((table) => of[table] &&= named(table, of[table]));
	name(index);
	[...Object.values(index.views), ...index.sites].forEach(name);
	for (const loss of index.losses)
		Object.assign(loss, { from: loss.from ?? 0, to: loss.to ?? index.span, ring: 2 * loss.cpu + (loss.keep ? 1 : 0) });
	index.losses.sort((a, b) => a.from - b.from);
	index.nChunks = index.chunks.length;
	let event = 0;
	for (const chunk of index.chunks) {
		chunk.firstEvent = event;
		event += chunk.events;
	}
	const threads = new Map();
	for (const track of index.tracks)
		track.thread = kept(threads, track.pid + '/' + track.tid, () => threads.size);
	/* What is asked for of each event, as columns. */
	index.kinds = Uint8Array.from(index.sites, (site) => site.kind);
	index.trackThread = Int32Array.from(index.tracks, ({ thread }) => thread);
	index.Lanes = arrayOf(index.rows.reduce((most, { lanes }) => max(most, lanes), 0) + 1);
	index.Labels = arrayOf(index.labels.length);
	const rows = max(index.rows.length, index.cpus.length);
	index.Row = rows > 32767 ? Int32Array : rows > 127 ? Int16Array : Int8Array;	/* -1: none */
	index.rowOf = new Map(index.rows.map((row, i) => [row.pid + '/' + row.group + '/' + row.ident, i])
		.filter(([, i]) => index.rows[i].kind === 0));
	index.cpuRow = new Map(index.cpus.map((row, i) => [row.pid, i]));
	for (const site of index.sites)
		if (site.kind === KIND_START && site.scope && site.args.length === 2 && site.args[1].name === 'late_ns')
			site.late = index.late = true;
	index.laneEnd = new Map(index.ends.map(([row, lane, end]) => [row + '/' + lane, end]));
	/* Of states: a number of open spans, or a scope's name, is none, and a state that is called so has its own. */
	const depths = new Set([...index.depths, ...index.scopes]);
	index.labelOf = new Map(index.labels.map((label, i) => [label, i]).filter(([, i]) => !depths.has(i)));
	index.clipped = index.labels.filter((label) => label.length >= 40);
	index.from = Number(index.from);
	for (const row of index.rows)
		row.nests = row.kind === ROW_NEST;
}

/* Snapshots of rows: before chunk k a row was as its last one with chunk <= k tells. */
function statesRead(bytes) {
	const r = new Numbers(bytes);
	index.history = index.rows.map(() => []);
	const moment = (to) => Object.assign(to, { event: r.next() - 1, from: r.signed() });
	for (let k = 0; k < index.nChunks; k++) {
		for (let n = r.next(); n > 0; n--) {
			const row = r.next(), has = r.next(), now = { chunk: k, spans: [] };
			if (has & 1)
				now.state = moment({ label: r.next() });
			if (has & 2)
				now.counter = moment({ value: r.double() });
			if (has & 4)
				for (let spans = r.next(); spans > 0; spans--)
					now.spans.push(moment(has & 8 ? { lane: r.next(), label: r.next() } : { lane: r.next() }));
			index.history[row].push(now);
		}
	}
}

const nothing = { spans: [] };

function stateBefore(row, chunk) {
	const history = index.history[row];
	return history[firstOf(0, history.length, (i) => history[i].chunk > chunk) - 1] ?? nothing;
}

function overviewRead(buffer) {
	let at = 0;
	const take = (Of) => new Of(buffer.slice(at, at += index.columns * Of.BYTES_PER_ELEMENT)), bytes = () => take(Uint8Array);
	const cells = () => ({ first: take(Uint16Array), second: take(Uint16Array), share: bytes(), rest: bytes(), covered: bytes(), unknown: bytes() });
	for (const row of [...index.rows, ...index.cpus]) {
		if (row.parts & 1)
			row.cells = cells();
		if (row.parts & 2)
			row.area = { least: take(Float64Array), greatest: take(Float64Array) };
		if (row.parts & 4)
			row.counts = take(Uint32Array);
		row.levelCells = Array.from({ length: row.levels }, cells);
	}
}

async function dataOpen(draws) {
	const [text, states] = await Promise.all(['index', 'states'].map(unpack));
	indexRead(utf8.decode(text));
	statesRead(states);
	if (draws && index.overview)
		overviewRead((await unpack('overview')).buffer);
}
