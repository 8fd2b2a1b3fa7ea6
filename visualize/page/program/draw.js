/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws. Bars, areas, marks and gaps are pixels that we set ourselves in one image, whose price does
 * not depend on how many events there are; text goes on top of it.
 */

let GUTTER = 290;	/* [pixels] names of rows; its edge can be drawn */
const RULER = 26;	/* [pixels] */
const canvas = part('plot');
const pen = canvas.getContext('2d', { alpha: false });
const columns = new Columns(1);
const levels = [];	/* columns of scopes in each other, or spans side by side, by how many there are */
const picture = { image: null, pixels: null, width: 0, height: 0, ratio: 0 };
const LEAST_WIDTH = 1e-4;	/* [columns] of what took no time */
const barNames = [];	/* states' names, to be written on this frame */
const NAME = ' 12px system-ui, "DejaVu Sans", sans-serif';
let theme;	/* colours of the page, as numbers and as text */

const packed = (colour) => 0xff000000 | (colour & 255) << 16 | (colour & 0xff00) | colour >> 16;


function themeRead(dark) {
	const style = getComputedStyle(document.documentElement);
	theme = { dark, instead: new Map(style.getPropertyValue('--instead').split(',').map((two) => two.trim().split(' ').map((c) => parseInt(c, 16)))) };
	for (const name of ['ink', 'faint', 'ground', 'band', 'line', 'mark']) {
		theme[name] = style.getPropertyValue('--' + name).trim();
		theme[name + 'Pixel'] = packed(parseInt(theme[name].slice(1), 16)) >>> 0;
	}
}

const shown = (colour) => theme.instead.get(colour) ?? colour;

const plotWidth = () => max(1, picture.width / picture.ratio - GUTTER);
const plotRight = () => GUTTER + plotWidth();
const plotBottom = () => picture.height / picture.ratio;
const gutterPixel = () => round(GUTTER * picture.ratio);

function xOf(time) {
	return GUTTER + (time - view.from) / spanNow() * plotWidth();
}

const timeOf = (x) => view.from + (x - GUTTER) / plotWidth() * spanNow();


/* As many pixels as the screen has there; whether these are others than before. */
function sized(node, ratio) {
	const box = node.getBoundingClientRect(), [width, height] = [box.width, box.height].map((n) => max(1, round(n * ratio)));
	return (node.width !== width || node.height !== height) && Object.assign(node, { width, height });
}

function fit() {
	const ratio = window.devicePixelRatio || 1;
	if (!sized(canvas, ratio) && picture.ratio === ratio)
		return;
	const { width, height } = Object.assign(picture, { width: canvas.width, height: canvas.height, ratio });
	picture.image = pen.createImageData(width, height);
	picture.pixels = new Uint32Array(picture.image.data.buffer);
}

function rectangle(x0, y0, x1, y1, pixel) {
	const { pixels, width, height } = picture;
	x0 = max(0, x0);
	y0 = max(0, y0);
	x1 = min(width, x1);
	y1 = min(height, y1);
	if (x1 > x0)
		for (let y = y0; y < y1; y++)
			pixels.fill(pixel, y * width + x0, y * width + x1);
}

/* Where all rows end. */
const rowsEnd = () => min(plotBottom(), ceil(RULER + view.height - view.top));
const yOf = (line) => RULER + line.y - view.top;

/* [first, end) rows of pixels of a part of a line. */
function band(line, top, bottom) {
	const y = yOf(line), least = RULER + (line.pinned ? 0 : view.pinned);
	return [top, bottom].map((at) => round(max(y + at, least) * picture.ratio));
}

const heights = [0, 0, 0, 0];

/* One column in layers, in the order of the labels' numbers. */
function paintColumn(line, x, left, y0, y1, order, columns) {
	const at = 4 * x, { pixels, width } = picture;
	let n = 0, sum = 0;
	for (let i = 0; i < 4 && columns.weight[at + i] > 0; i++) {
		if (columns.label[at + i] === UNKNOWN)
			continue;
		sum += columns.weight[at + i];
		let k = n++;
		for (; k > 0 && columns.label[at + order[k - 1]] > columns.label[at + i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	if (!n)
		return;
	const scale = sum > 0.98 ? 1 / sum : 1;
	sum = min(1, sum * scale);
	/* What is short, or hardly covers its column, still has to be seen: at the cost of the largest layer. */
	const least = min(ceil(2 * picture.ratio), floor((y1 - y0) / n)), all = y1 - y0;
	let room = max(round(sum * all), round(0.19 * all), n * least), largest = 0;
	for (let i = 0; i < n; i++) {
		const weight = columns.weight[at + order[i]];
		heights[i] = max(round(weight * scale * all), least);
		room -= heights[i];
		if (weight > columns.weight[at + order[largest]])
			largest = i;
	}
	heights[largest] += room;
	let bottom = y1, used = 0;
	for (let i = 0; i < n; i++) {
		used += heights[i];
		const top = max(0, y1 - used);
		const pixel = packed(shown(colourOf(columns.label[at + order[i]])));
		for (let y = min(bottom, picture.height) - 1; y >= top; y--)
			pixels[y * width + left + x] = pixel;
		bottom = top;
	}
}

/*
 * The lanes that were added to columns, those of the line or others; runs of whole columns of one label are rectangles. Where columns are
 * counted, one that something begins in begins a rectangle, with a border if that is a few pixels wide.
 */
function paintLane(line, y0, y1, names, lanes = columns) {
	const left = gutterPixel(), order = [0, 0, 0, 0];
	if (y1 <= 0 || y0 >= picture.height)
		return;
	const { ratio } = picture;
	for (let x = 0, end; x < lanes.n; x = end) {
		const label = lanes.label[4 * x];
		const whole = (at) => lanes.label[4 * at] !== UNKNOWN && lanes.weight[4 * at] > 0.99 && lanes.weight[4 * at + 1] === 0 &&
			lanes.label[4 * at] === label;
		for (end = x + 1; whole(x) && end < lanes.n && whole(end) && !lanes.count[end];)
			end++;
		if (whole(x))
			rectangle(left + x, y0, left + end, y1, packed(shown(colourOf(label))));
		if (lanes.count[x] && end - x > 3 * ratio)
			rectangle(left + x, y0, left + x + 1, y1, theme.groundPixel);
		if (names && end - x > 34 * ratio && y1 - y0 > 10 * ratio)
			barNames.push({ x: (left + x) / ratio, y: (y0 + y1) / 2 / ratio, width: (end - x) / ratio,
				text: index.labels[label], ink: inkOn(shown(colourOf(label))) });
		if (!whole(x) && lanes.weight[4 * x] > 0)
			paintColumn(line, x, left, y0, y1, order, lanes);
	}
}

/* How many events a column has, on a logarithmic scale. */
function paintCounts(y0, y1, pixel) {
	const left = gutterPixel(), most = columns.count.reduce((a, b) => max(a, b), 0);
	for (let x = 0; x < columns.n; x++) {
		const n = columns.count[x];
		if (n) {
			const high = most > 2 ? 0.35 + 0.65 * log(n) / log(most) : 0.8;
			rectangle(left + x, round(y1 - high * (y1 - y0)), left + x + ceil(picture.ratio), y1, pixel);
		}
	}
}

/* A counter's axis: {low, high, of(number): its height from 0 to 1}. Zero is always in sight. */
function counterScale(row) {
	const low = min(row.least, 0), high = max(row.greatest, 0) > low ? max(row.greatest, 0) : 1;
	/* Halves, because the difference of the largest doubles is none. */
	return { low, high, of: (number) => (number / 2 - low / 2) / (high / 2 - low / 2) };
}

/* From zero up and down: strong as far as all numbers of a column go, pale to the farthest. */
function paintArea(row, y0, y1) {
	const left = gutterPixel(), scale = counterScale(row);
	const pale = packed(0x56b4e9), strong = packed(0x0072b2);
	const at = (number) => round(y1 - 1 - scale.of(number) * (y1 - y0 - 2)), zero = at(0);
	let first = -1, end = 0;
	for (let x = 0; columns.least && x < columns.n; x++) {
		const least = columns.least[x], greatest = columns.greatest[x];
		if (greatest === -Infinity)
			continue;
		const bar = (top, bottom, pixel) => rectangle(left + x, top, left + x + 1, bottom, pixel);
		first = first < 0 ? x : first;
		end = x + 1;
		if (greatest > 0) {
			bar(min(at(greatest), zero - 1), zero, pale);
			bar(at(max(least, 0)), zero, strong);
		}
		if (least < 0) {
			bar(zero + 1, max(at(least), zero + 1) + 1, pale);
			bar(zero + 1, at(min(greatest, 0)) + 1, strong);
		}
	}
	rectangle(left + first, zero, left + end, zero + 1, theme.faintPixel);
}

/* Hatches leave what is known within a gap; of a CPU's row that is which thread has most, of whatever was kept. */
function hatch(x0, x1, line) {
	const { pixels, width, height, ratio } = picture, [y0, y1] = band(line, 0, line.height);
	const isFree = (pixel) => byCpus() || pixel === theme.groundPixel || pixel === theme.linePixel;
	const step = round(6 * ratio), wide = max(1, round(1.5 * ratio));
	for (let y = max(0, y0); y < min(y1, height); y++)
		for (let x = x0; x < x1; x++)
			if ((x + y) % step < wide && isFree(pixels[y * width + x]))
				pixels[y * width + x] = theme.inkPixel;
}

/* Hatches columns of which nobody knows what the row did, on the same lines as gaps. */
function paintUnknown(line) {
	const left = gutterPixel();
	for (let at = 0; at < 4 * columns.n; at++)
		if (columns.label[at] === UNKNOWN && columns.weight[at] > 0.01)
			hatch(left + (at >> 2), left + (at >> 2) + 1, line);
}

function paintGaps() {
	for (const { from, to, cpu, ring } of index.losses) {
		if (to < view.from || from > view.to)
			continue;
		const { ratio } = picture, x0 = max(gutterPixel(), floor(xOf(from) * ratio));
		for (const line of view.lines) {
			const row = rowOf(line) ?? marksOf(line);
			if (row && (byCpus() ? row.pid === cpu : row.rings.includes(ring)))
				hatch(x0, min(picture.width, max(ceil(xOf(to) * ratio), x0 + 2)), line);
		}
	}
}

/* ---- rows ---- */

/* States or numbers of a row as far as they are known: put(columns, x0, x1, value). */
function addValues(line, sight, each, put) {
	eachChunk([columns], sight, 'v' + line.row, ([to], s, at) =>
		each(line.row, s, (from, end, value) => {
			const x = (time) => at(max(min(time, s.to), s.from)), known = knownUntil(line.row, from, end);
			if (known >= s.from)
				put(to, x(from), x(known), value);
			if ((value || each === eachNumber) && known < end)
				to.add(x(known), x(end), UNKNOWN);
		}));
}

/* Scopes of a thread in each other, or spans side by side: all levels are filled by one look at the row's events. */
function paintSpans(line, row, sight) {
	const { nests } = row, { n, at: place } = lanesOf(line, row), to = levels[n] ??= Array.from({ length: n }, () => new Columns(1));
	if (!sight.detail && !nests) {
		overviewLane(row.cells, columns, sight);
		paintLane(line, ...band(line, 2, line.height - 2));
		return;
	}
	for (const level of to) {
		level.resize(columns.n);
		level.clear();
	}
	if (sight.detail)
		eachChunk(to, sight, 'l' + line.row, (to, s, at) =>
			eachSpan(line.row, s, (from, end, lane, event, ended, scope) => {
				const i = min(lane, n - 1), level = to[i], label = nests ? scope : laneLabel(i), begin = at(nests ? from : max(from, s.from));
				if (!nests)
					level.add(begin, begin + 0.2, label);
				outsideGaps(line.row, max(from, s.from), min(end, s.to), (a, b) =>
					level.add(nests ? at(a) : max(at(a), begin + 0.2), at(b) + (nests ? LEAST_WIDTH : 0), label));
				if (nests && begin >= 0 && begin < level.n)
					level.count[floor(begin)]++;
			}));
	else
		row.levelCells?.forEach((cells, level) => overviewLane(cells, to[level], sight));
	to.forEach((level, i) => paintLane(line, ...band(line, ...place(i)), nests, level));
}

/* see(columns, column, part, event) for each event of a row. */
function eachMark(what, number, sight, see) {
	eachChunk([columns], sight, what + number, ([to], s, at) =>
		eachEvent(what, number, s, (chunk, e) => {
			const x = floor(at(chunk.time[e]));
			if (x >= 0 && x < to.n)
				see(to, x, chunk, e);
		}));
}

/* A row of a CPU: whose events they are. */
function paintCpu(line, row, sight) {
	if (sight.detail)
		eachMark('cpus', line.row, sight, (to, x, chunk, e) => to.put(x, chunk.trackOf(e).label, 1));
	else
		overviewLane(row.cells, columns, sight);
	columns.whole();
	paintLane(line, ...band(line, 3, line.height - 3));
}

function addMarks(number, row, sight) {
	const own = row.kind === 0;
	if (sight.detail)
		eachMark(own ? 'ids' : 'threads', number, sight, (to, x, chunk, e) => (!own || kindAt(chunk, e) === KIND_POINT) && to.count[x]++);
	else
		overviewCounts(row.counts, columns, sight);
}

function paintCounter(line, row, sight) {
	if (sight.detail)
		addValues(line, sight, eachNumber, (to, x0, x1, number) => to.range(x0, x1, number, number));
	else
		overviewArea(row.area, columns, sight);
	paintArea(row, ...band(line, 2, line.height - 2));
	paintUnknown(line);
}

function paintStates(line, row, sight) {
	if (sight.detail)
		addValues(line, sight, eachState, (to, x0, x1, label) => to.add(x0, x1 + LEAST_WIDTH, label));
	else
		overviewLane(row.cells, columns, sight);
	paintLane(line, ...band(line, 2, line.height - 3), true);
	paintUnknown(line);
}

const painters = { cpu: paintCpu, scopes: paintSpans, states: paintStates, spans: paintSpans, counter: paintCounter };

function paintLine(line, sight) {
	const row = rowOf(line), marks = marksOf(line);
	columns.clear();
	painters[looksLike(row)]?.(line, row, sight);
	if (!marks)
		return;
	columns.clear();
	addMarks(line.marks, marks, sight);
	paintCounts(...row ? band(line, line.height - 6, line.height) : band(line, 2, line.height - 2), row ? theme.inkPixel : theme.faintPixel);
}

/* ---- text ---- */

function clipped(text, width) {
	if (pen.measureText(text).width <= width)
		return text;
	/* The middle is left out, because names of one kind differ at their ends. */
	const letters = [...text], cut = (n) => letters.slice(0, ceil(n / 2)).join('') + '…' +
		letters.slice(letters.length - floor(n / 2)).join('');
	const most = firstOf(1, letters.length, (n) => pen.measureText(cut(n)).width > width) - 1;
	return most > 0 ? cut(most) : '';
}

function write(text, x, y, colour, width = 0, weight = '', align = 'left') {
	pen.font = weight + NAME;
	pen.textAlign = align;
	pen.fillStyle = colour;
	pen.fillText(width ? clipped(text, width) : text, x, y);
}

const fillAt = (...how) => fillOn(pen, ...how);

function fillOn(pen, colour, ...at) {
	pen.fillStyle = colour;
	pen.fillRect(...at);
}

/* Black or white, whichever has more contrast, as the WCAG defines it. */
function inkOn(colour) {
	const light = (byte) => ((byte & 255) / 255 + 0.055) ** 2.4;
	return 0.2126 * light(colour >> 16) + 0.7152 * light(colour >> 8) + 0.0722 * light(colour) > 0.2035 ? '#000' : '#fff';
}

/* What spans say and how long they took, on bars that are wide enough. */
function writeSpans(line, row, sight) {
	const { at } = lanesOf(line, row);
	if (row.nests)
		return;
	eachSpan(line.row, sight, (from, to, lane, event, ended) => {
		const x0 = max(GUTTER, xOf(from)), x1 = min(xOf(to), plotRight());
		const [y0, y1] = at(lane);
		if (x1 - x0 > 34)
			write(spanText(event) + (ended ? duration(to - from) : '…'), x0 + 4, yOf(line) + (y0 + y1) / 2 + 0.5,
				inkOn(shown(colourOf(laneLabel(lane)))), x1 - x0 - 8);
	});
}

/* What the START of a span says beyond its key. */
function spanText(event) {
	const chunk = chunkWith(event);
	if (!chunk)
		return '';
	const e = event - chunk.first, { args, valueArg } = chunk.siteOf(e);
	const text = args.map((_, i) => i > valueArg ? chunk.valueText(e, i) : '').filter(Boolean).join(', ');
	return text ? text + '  ' : '';
}

/* Where a line's name begins, how much room it has, and what is remarked to its right. */
function nameRoom(line) {
	if (isHeading(line))
		return { x: 16, room: GUTTER - 22, remark: line.below.length && chosen.fold.has(line.key) ? line.below.length + ' rows' : '' };
	const x = 22 + 12 * max(0, line.indent), all = GUTTER - x - 10;
	const counts = isCounter(rowOf(line)), remark = counts || !line.remark ? '' : clipped(line.remark, all * 0.6);
	return { x, room: all - (counts ? 50 : remark ? pen.measureText(remark).width + 8 : 0), remark };
}

const weightOf = (line) => line.said ? '700' : isHeading(line) ? '600' : '';

/* How many letters both begin with. */
function common(a, b) {
	const n = a.findIndex((letter, i) => letter !== b[i]);
	return n < 0 ? a.length : n;
}

/* The names of all lines as they fit; those that differ are not cut to the same. Kept until the column changes. */
const names = { lines: null, gutter: 0, text: new Map() };

function fitNames() {
	if (names.lines === view.lines && names.gutter === GUTTER)
		return;
	Object.assign(names, { lines: view.lines, gutter: GUTTER, text: new Map() });
	const alike = new Map();
	for (const line of view.lines) {
		pen.font = weightOf(line) + NAME;
		const fit = clipped(line.text, nameRoom(line).room);
		names.text.set(line, fit);
		kept(alike, fit, () => []).push(line);
	}
	for (const [fit, lines] of alike) {
		const texts = [...new Set(lines.map((line) => line.text))].sort();
		for (const line of texts.length > 1 ? lines : []) {
			const at = texts.indexOf(line.text), letters = [...line.text];
			const from = max(...[at - 1, at + 1].map((k) => texts[k] === undefined ? 0 : common(letters, [...texts[k]])));
			/* From a little before where they differ; the middle is cut out of what is longer. */
			names.text.set(line, clipped('…' + letters.slice(max(0, from - 3)).join(''), nameRoom(line).room) || fit + (at + 1));
		}
	}
}

function writeNames(line) {
	const row = rowOf(line), y = yOf(line) + (row?.nests ? 2 + LEVEL_HEIGHT / 2 : line.height / 2) + 0.5, { x, remark } = nameRoom(line), current = line.key === view.current, pointed = current || pointer.name === line.key;
	write(names.text.get(line), x, y, theme.ink, 0, weightOf(line));
	if (line.below.length)
		write(chosen.fold.has(line.key) ? '▸' : '▾', x - 13, y, theme.ink);
	pen.strokeStyle = theme.mark;
	if (line.said)
		fillAt(theme.mark, 1, yOf(line) + 2, 4, line.height - 4);
	if (current)
		pen.strokeRect(0.5, yOf(line) + 0.5, GUTTER - 2, line.height - 1);
	if (isCounter(row))
		writeAxis(line, row);
	else if (!pointed)
		write(remark, GUTTER - 8, y, theme.faint, 0, '', 'right');
	if (pointed)
		drawWords(line, y);
}

function writeLine(line, sight) {
	writeNames(line);
	const row = rowOf(line);
	if (row?.has & HAS_SPANS && sight.detail && !byCpus() && sight.end - sight.first < 2)
		writeSpans(line, row, sight);
}

const isCounter = (row) => looksLike(row) === 'counter';

/* The ends of a counter's axis, and zero where there is room between. */
function writeAxis(line, row) {
	const scale = counterScale(row), top = yOf(line) + 3, high = line.height - 6;
	const tick = (number) => {
		const y = top + (1 - scale.of(number)) * high;
		fillAt(theme.faint, GUTTER - 4, y, 4, 1);
		pen.font = NAME.replace('12', '9');
		pen.textAlign = 'right';
		pen.fillText(shortNumber(number), GUTTER - 6, max(top + 3, min(y, top + high - 3)));
	};
	tick(scale.high);
	tick(scale.low);
	if (scale.of(0) * high > 11 && (1 - scale.of(0)) * high > 11)
		tick(0);
}

/* ---- the frame ---- */

function paint(lines, sight) {
	picture.pixels.fill(theme.groundPixel, 0, rowsEnd() * picture.ratio * picture.width);
	barNames.length = 0;
	drawGrid(lines);
	for (const line of lines)
		if ((line.row >= 0 || line.marks >= 0) && !(sight.detail && making.late))
			paintLine(line, sight);
	paintGaps();
}

function draw() {
	fit();
	const sight = sightOf(view.from, view.to), visible = plotBottom() - RULER;
	view.top = max(0, min(view.top, view.height + 10 - visible));
	for (const line of view.lines)
		line.y = line.pinned ? line.at + view.top : line.at;
	const lines = view.lines.filter((line) => line.pinned || (line.y + line.height > view.top + view.pinned && line.y < view.top + visible));
	view.sight = sight;
	columns.resize(max(1, picture.width - gutterPixel()));
	Object.assign(making, { spent: 0, late: false });
	paint(lines, sight);
	if (making.late) {
		sight.detail = false;
		paint(lines, sight);
	}
	const { ratio } = picture, end = rowsEnd();
	pen.putImageData(picture.image, 0, 0, 0, 0, picture.width, end * ratio);
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	/* Below the rows there is nothing but the grid. */
	fillAt(theme.ground, 0, end, plotRight(), plotBottom());
	eachTick(tickStep(), (x) => fillAt(theme.line, round(x * ratio) / ratio, end, 1 / ratio, plotBottom()));
	pen.textBaseline = 'middle';
	fitNames();
	pen.save();
	pen.beginPath();
	pen.rect(0, RULER + view.pinned, picture.width, picture.height);
	pen.clip();
	for (const line of lines.filter(({ pinned }) => !pinned))
		writeLine(line, sight);
	pen.restore();
	for (const line of lines.filter(({ pinned }) => pinned))
		writeLine(line, sight);
	if (view.pinned)
		fillAt(theme.faint, 0, RULER + view.pinned - 1, picture.width, 1);
	for (const bar of barNames)
		write(bar.text, bar.x + 4, bar.y + 0.5, bar.ink, bar.width - 8);
	drawFlows(sight);
	drawHits(lines, sight);
	drawSelection();
	drawRuler();
	drawRange();
	drawNotes();
	drawMap();
	if (making.late)
		show();
	if (sight.beyond)
		write(words('beyond'), GUTTER + 20, RULER + 14, theme.mark);
	return sight;
}
