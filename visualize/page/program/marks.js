/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies over the rows: the ruler, what is selected or measured, notes, hits of a search; and the map above the plot,
 * which shows the whole page and what part of it is in sight.
 */

const mapCanvas = part('map');
const mapPen = mapCanvas.getContext('2d', { alpha: false });
const map = { density: null, known: 0, of: null, wide: 0, shape: null };

/* ---- the ruler ---- */

/* Ticks at round steps, about 110 pixels apart. */
function tickStep() {
	const rough = spanNow() / plotWidth() * 130, unit = 10 ** floor(log10(rough));
	return max(1, [1, 2, 5, 10].map((m) => m * unit).find((step) => step >= rough));
}

/* What all moments in sight begin with: 0, or a round one that ticks count from, "2.1 s + 500 µs". */
function tickBase(step) {
	const from = view.from + index.from, round = 10 ** ceil(log10(20 * step));
	const base = floor(from / round) * round;
	return base > 0 && base >= 20 * step ? base : 0;
}

/* A round moment, as short as it is exact. */
const shortMoment = (ns) => moment(ns).replace(/ s$/, '').replace(/( 000)+$/, '').replace(/\.000$/, '').replace(/(\.\d{0,2}[1-9])0+$/, '$1') + ' s';


/* see(x, moment of the trace) for each tick in sight. */
function eachTick(step, see) {
	for (let k = ceil((view.from + index.from) / step); k * step <= view.to + index.from; k++)
		if (xOf(k * step - index.from) >= GUTTER)
			see(xOf(k * step - index.from), k * step);
}

function drawRuler() {
	const step = tickStep(), base = tickBase(step);
	fillAt(theme.band, 0, 0, plotRight(), RULER);
	eachTick(step, (x, at) => {
		fillAt(theme.faint, x, RULER - 5, 1, 5);
		write((base ? '+ ' : '') + (at === base ? '0' : duration(at - base)), x + 3, RULER / 2, theme.faint);
	});
	fillAt(theme.band, 0, 0, GUTTER, RULER);
	write(...base ? [shortMoment(base), GUTTER - 8, RULER / 2, theme.ink, GUTTER - 20, '600', 'right'] :
		['since the trace began', 14, RULER / 2, theme.faint, GUTTER - 20]);
}

function drawGrid(lines) {
	for (const line of lines)
		if (isHeading(line)) {
			const [y0, y1] = band(line, 0, line.height);
			rectangle(0, y0, picture.width, y1, theme.bandPixel);
		}
	eachTick(tickStep(), (at) => {
		const x = round(at * picture.ratio);
		rectangle(x, 0, x + 1, picture.height, theme.linePixel);
	});
}

/* ---- what is selected, measured, noted ---- */

function measured() {
	const { measure } = view;
	return measure && [min(measure.a, measure.b), max(measure.a, measure.b)];
}

function drawRange() {
	const range = measured(), bottom = plotBottom();
	if (!range)
		return;
	const x0 = max(xOf(range[0]), GUTTER), x1 = max(xOf(range[1]), x0 + 1);
	fillAt(theme.dark ? '#ffffff14' : '#00000018', x0, 0, x1 - x0, bottom);
	fillAt(theme.mark, x0, 0, 1, bottom);
	pen.fillRect(x1 - 1, 0, 1, bottom);
	const text = duration(range[1] - range[0]), x = max(GUTTER + 40, min((x0 + x1) / 2, plotRight() - 80));
	pen.font = '600' + NAME;
	const wide = pen.measureText(text).width + 14;
	fillAt(theme.ground, x - wide / 2, 3, wide, RULER - 6);
	write(text, x, RULER / 2, theme.mark, 0, '600', 'center');
}

/* [pixels from the line's top] of a bar. */
function barPlace(line, bar) {
	const row = index.rows[bar.row], { n, at } = lanesOf(line, row);
	return row.nests || (bar.what === 'span' && n > 1) ? at(bar.lane) : [1, line.height - 1];
}

function drawSelection() {
	const { selected } = view, right = plotRight();
	if (!selected)
		return;
	const { line, bar } = selected, x = xOf(selected.time);
	if (x >= GUTTER && x <= right && !bar)
		fillAt(theme.mark, x - 0.5, RULER, 1.5, plotBottom());
	if (bar?.path)
		drawPath(bar.path);
	pen.strokeStyle = theme.mark;
	if (line && bar && line.row === bar.row && !byCpus()) {
		const [y0, y1] = barPlace(line, bar), a = max(GUTTER, xOf(bar.from)), b = min(right, max(xOf(bar.to), a + 2));
		pen.lineWidth = 2;
		if (b > a)
			pen.strokeRect(a, yOf(line) + y0, b - a, y1 - y0);
		pen.lineWidth = 1;
	} else if (line) {
		pen.strokeRect(GUTTER + 0.5, yOf(line) + 0.5, plotWidth() - 1, line.height - 1);
	}
}

/* Along the rows of the threads that a bar waited for, from one to the next. */
function drawPath(path) {
	const lineOf = linesByRow(view.lines);
	pen.lineWidth = 3;
	pen.strokeStyle = theme.mark;
	pathAlong(...path.flatMap(({ thread, from, to }) => {
		const { nest, row } = trackOfThread(thread), line = lineOf.get(nest) ?? lineOf.get(row), y = line && yOf(line) + 1;
		const [a, b] = [from, to].map((time) => max(GUTTER, min(xOf(time), plotRight())));
		return line && b > a ? [a, y, b, y] : [];
	}));
	pen.stroke();
	pen.lineWidth = 1;
}

/* A flag on the ruler for each note, and its text. */
function drawNotes() {
	for (const note of view.notes) {
		const { x, text, wide } = flagOf(note);
		if (x < GUTTER || x > plotRight())
			continue;
		pen.globalAlpha = 0.5;
		fillAt(theme.mark, x, RULER, 1, plotBottom());
		pen.globalAlpha = 1;
		pen.fillRect(x, 2, 2, RULER - 2);
		pen.fillRect(x, 2, wide, 15);
		write(text, x + 6, 10, theme.ground, 0, '600');
	}
}

function flagOf(note) {
	pen.font = '600' + NAME;
	const text = clipped(note.text, 160);
	return { x: xOf(note.time), text, wide: pen.measureText(text).width + 12 };
}

/* The note whose flag is under a place, or null. */
function noteAt(x, y) {
	return y >= RULER ? null : view.notes.find((note) => {
		const { x: from, wide } = flagOf(note);
		return x >= from - 2 && x <= from + wide;
	}) ?? null;
}

/* ---- hits ---- */

/* Hits of a search: a mark on every row that the event is on, and a line from one to the next. */
function drawHits(lines, sight) {
	if (!search.match || !sight.detail)
		return;
	const lineOf = linesByRow(lines);
	let before = null, drawn = 0;
	pen.fillStyle = pen.strokeStyle = theme.mark;
	for (const { chunk } of partsOf(view.by, 0, sight)) {
		const rows = chunk.list(view.by).row;
		for (const e of hitsKnown(chunk) ?? once(() => searchHits(chunk)) ?? []) {
			const x = xOf(chunk.time[e]), line = lineOf.get(rows[e]);
			if (x < GUTTER || x > plotRight() || !line)
				continue;
			if (++drawn > 5000)
				return;
			const y = yOf(line) + line.height;
			if (before && search.follow)
				drawArrow(before, { x, y });
			before = { x, y };
			pathAlong(x, y - 7, x - 4, y + 1, x + 4, y + 1);
			pen.fill();
		}
	}
}

/* From one event to the next one with the same value: an arrow, where there is room for its head. */
function drawArrow(a, b) {
	const long = Math.hypot(b.x - a.x, b.y - a.y), [dx, dy] = [(b.x - a.x) / long, (b.y - a.y) / long];
	pathAlong(a.x, a.y, b.x, b.y);
	pen.stroke();
	if (long < 24)
		return;
	const x = b.x - 9 * dx, y = b.y - 9 * dy;
	pathAlong(b.x - dx, b.y - dy, x - 4 * dy, y + 4 * dx, x + 4 * dy, y - 4 * dx);
	pen.fill();
}

function pathAlong(...at) {
	pen.beginPath();
	for (let i = 0; i < at.length; i += 2)
		pen.lineTo(at[i], at[i + 1]);
}

/* ---- the map ---- */

/* How many events each column of the page has: from the overview, or from all parts, where these are few. */
function mapDensity() {
	if (map.density && (index.overview || map.known === index.nChunks))
		return map.density;
	const density = map.density = new Float64Array(DENSITY);
	const add = (time, n) => density[densityAt(time)] += n;
	if (index.overview) {
		const wide = index.span / index.columns;
		for (const row of index.rows)
			if (row.kind === 1)
				row.counts?.forEach((n, c) => add((c + 0.5) * wide, n));
		return density;
	}
	const here = index.chunks.map((_, k) => chunkNow(k)).filter(Boolean);
	here.forEach((chunk) => chunk.time.forEach((time) => add(time, 1)));
	map.known = here.length;
	return density;
}

/* Kept until one of what it is made of changes. */
function mapShape(density, high) {
	const wide = plotWidth() / DENSITY, shape = new Path2D(`M${GUTTER} ${high}`);
	if (map.of === density && map.wide === wide)
		return map.shape;
	const most = density.reduce((a, b) => max(a, b), 1);
	density.forEach((n, c) => shape.lineTo(GUTTER + c * wide, high - (n && (0.15 + 0.85 * log1p(n) / log1p(most)) * (high - 6))));
	shape.lineTo(plotRight(), high);
	Object.assign(map, { of: density, wide, shape });
	return shape;
}

const mapX = (time) => GUTTER + time / index.span * plotWidth();
const mapTime = (x) => (x - GUTTER) / plotWidth() * index.span;

function drawMap() {
	const { ratio } = picture;
	sized(mapCanvas, ratio);
	const [wide, high] = [mapCanvas.width / ratio, mapCanvas.height / ratio];
	mapPen.setTransform(ratio, 0, 0, ratio, 0, 0);
	fillOn(mapPen, theme.band, 0, 0, wide, high);
	mapPen.fillStyle = theme.faint;
	mapPen.fill(mapShape(mapDensity(), high));
	const x0 = max(GUTTER, mapX(view.from)), x1 = min(wide, max(mapX(view.to), x0 + 3));
	fillOn(mapPen, theme.ground + 'b0', GUTTER, 0, x0 - GUTTER, high);
	mapPen.fillRect(x1, 0, wide - x1, high);
	mapPen.strokeStyle = theme.ink;
	mapPen.strokeRect(x0 + 0.5, 0.5, max(2, x1 - x0 - 1), high - 1);
	const mark = (x, wide, high, strong = '') => fillOn(mapPen, theme.mark + strong, x, 0, max(2, wide), high), range = measured();
	search.density?.forEach((n, c) => n && mark(round(GUTTER + c / DENSITY * plotWidth()), 2, 6));
	view.notes.forEach(({ time }) => mark(mapX(time), 2, high));
	if (range)
		mark(mapX(range[0]), mapX(range[1]) - mapX(range[0]), high, '66');
	mapPen.textBaseline = 'middle';
	mapPen.font = NAME;
	mapPen.fillStyle = theme.faint;
	mapPen.fillText(wallClock(view.from).slice(0, 23) || 'the whole trace', 14, high / 2);
}
