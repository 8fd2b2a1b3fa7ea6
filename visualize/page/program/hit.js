/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is under the pointer: a bar, {what: scope, span or state, row, lane, from, to, ended, event, label}, or an event
 * alone, {what: event, event}. In views that are drawn from the overview, the parts around that moment are unpacked;
 * until they have come there is nothing.
 */

function lineAt(y) {
	const at = y - RULER + view.top;
	return y < RULER ? null : view.lines.find((line) => at >= line.y && at < line.y + line.height) ?? null;
}

/*
 * A sight of what is within so many pixels of x, of three parts at most where they are small on the screen; null while they are not at
 * hand.
 */
function sightNear(x, pixels) {
	const { sight } = view, time = timeOf(x), reach = pixels * spanNow() / plotWidth(), from = time - reach, to = time + reach;
	if (x < GUTTER || !index.nChunks || sight.beyond)
		return null;
	const at = partAt(time), most = sight.detail ? Infinity : 1, first = max(partAt(from), at - most), end = min(partAt(to), at + most);
	let here = true;
	for (let k = first; k <= end; k++)
		here = chunkNow(k) && here;
	return here && { ...sight, from, to, first, end, time, reach };
}

/* The bar that is nearest to x, of those that each(sight, see) tells of: of those that cover it the shortest. */
function barNearest(x, pixels, each) {
	const near = sightNear(x, pixels);
	let best = null, away = Infinity;
	if (near)
		each(near, (bar) => {
			const d = max(bar.from - near.time, near.time - bar.to, 0), long = bar.to - bar.from;
			if (d <= near.reach && (d < away || (d === away && long < best.to - best.from)))
				[best, away] = [bar, d];
		});
	return best;
}

function spanAt(line, x, y) {
	const { row } = line, nests = isNest(row), { n, of } = lanesOf(line, rowOf(line)), wanted = of(y);
	return barNearest(x, 3, (near, see) => eachSpan(row, near, (from, to, lane, event, ended, label) => {
		const drawn = nests ? lane : min(lane, n - 1);
		if (drawn === wanted || (!nests && !view.sight.detail))
			see({ what: nests ? 'scope' : 'span', row, lane, from, to, event, ended, label });
	}));
}

const stateAt = ({ row }, x) => barNearest(x, 2, (near, see) => eachState(row, near, (from, to, label, event, part, ended) =>
	label && see({ what: 'state', row, lane: 0, from, to, event, ended, label })));

function markAt(what, number, x) {
	const near = sightNear(x, 6);
	let best = -1, distance = Infinity;
	if (near)
		eachEvent(what, number, near, (chunk, e) => {
			const d = abs(chunk.time[e] - near.time);
			if (d <= distance)
				[best, distance] = [chunk.first + e, d];
		});
	return best < 0 ? null : { what: 'event', event: best };
}

/* The number of a counter's row at x, with the event that set it. */
function numberUnder(line, x) {
	const near = sightNear(x, 0);
	let found = null;
	if (near)
		eachNumber(line.row, { ...near, to: near.time + 1 }, (from, to, value, event) => {
			if (from <= near.time && near.time < to)
				found = { what: 'event', event, value };
		});
	return found;
}

const finders = { cpu: (line, x) => markAt('cpus', line.row, x), scopes: spanAt, spans: spanAt, states: stateAt, counter: (line, x) => {
	const found = numberUnder(line, x);
	return found?.event >= 0 ? found : null;
} };

function thingAt(line, x, y) {
	const marks = marksOf(line);
	return finders[looksLike(rowOf(line))]?.(line, x, y) ?? (marks ? markAt(marks.kind === 0 ? 'ids' : 'threads', line.marks, x) : null);
}

/* ---- in words ---- */

/* A scope with its end and what calls in it took, if it ends within so many parts that are at hand. */
const SCOPE_PARTS = 8;

function scopeNow(bar) {
	const whole = new Whole(bar);
	for (let k = whole.first; k < whole.first + SCOPE_PARTS && chunks.has(k); k++)
		if (whole.part(k))
			return { ...bar, ...whole.told() };
	return { ...bar, self: NaN };
}

function barText(bar) {
	const { what, row } = bar, name = what === 'span' ? index.rows[row].ident : barName(bar);
	const whole = what === 'scope' ? scopeNow(bar) : bar;
	const text = name + ': ' + (whole.ended ? '' : 'at least ') + duration(whole.to - whole.from);
	const more = what === 'span' ? spanText(bar.event).trim() : '';
	return text + (what === 'scope' ? (isNaN(whole.self) ? '' : ', self ' + duration(whole.self)) + ', depth ' + bar.lane : more ? ', ' + more : '');
}

/* The column of the overview that is under x. */
const columnAt = (x) => floor(timeOf(x) / index.span * index.columns);

/* What the overview has there: the names that fill it most. */
function overviewText(line, x, y) {
	const row = rowOf(line), c = columnAt(x);
	const cells = row?.nests ? row.levelCells?.[lanesOf(line, row).of(y)] : row?.cells, names = labelsNow();
	if (x < GUTTER || !(cells?.first[c] > 0))
		return '';
	return names[cells.first[c]] + ' ' + round(cells.share[c] / 2.55) + ' % here' +
		(cells.rest[c] ? ', ' + names[cells.second[c]] + ' ' + round(cells.rest[c] / 2.55) + ' %' : '');
}

/* What a counter was at a place on its line: exactly where its event is in the page, else between what numbers. */
function numberAt(line, x) {
	const { ident, area } = rowOf(line), unit = (ident.match(/ \[[^[\]]+\]$/) ?? [''])[0].replace(/[[\]]/g, '');
	const c = columnAt(x), least = area?.least[c], greatest = area?.greatest[c];
	if (x >= GUTTER && !sightNear(x, 0) && index.overview)
		return !(least <= greatest) ? '' : least === greatest ? least + unit : 'from ' + least + ' to ' + greatest + unit;
	const found = numberUnder(line, x), chunk = chunkWith(found?.event), e = chunk && found.event - chunk.first;
	return !found ? '' : (chunk ? chunk.valueText(e, chunk.siteOf(e).valueArg) : found.value) + unit;
}

function tipText(line, x, y) {
	const row = rowOf(line);
	if (x < GUTTER)
		return line.text + (line.remark ? ': ' + line.remark : '');
	if (isCounter(row))
		return line.text + ': ' + (numberAt(line, x) || 'no value') + (line.remark ? ' (' + line.remark + ')' : '');
	const thing = thingAt(line, x, y), chunk = chunkWith(thing?.event);
	if (thing && thing.what !== 'event')
		return barText(thing);
	return chunk ? saidOf(chunk, thing.event - chunk.first) : view.sight.detail ? '' : overviewText(line, x, y);
}

function tipShow() {
	const tip = part('tip'), line = pointer.inside && !pointer.drag ? lineAt(pointer.y) : null;
	const text = line ? tipText(line, pointer.x, pointer.y) : '';
	tip.hidden = text === '';
	tip.textContent = text.slice(0, 400);
	const box = canvas.getBoundingClientRect();
	tip.style.left = max(4, min(pointer.x + 14, box.width - tip.offsetWidth - 6)) + 'px';
	tip.style.top = canvas.offsetTop + min(pointer.y + 16, box.height - tip.offsetHeight - 4) + 'px';
}
