/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the page, and turns keys and the pointer into what is looked at. One frame is drawn when
 * something has changed, and then none until something changes again.
 */
'use strict';

const LEAST_SPAN = 20;	/* [ns] */
const pointer = { x: 0, y: 0, inside: false, drag: null };
const held = new Set();	/* keys that move the view as long as they are down */
const frames = { times: [], last: 0, asked: false, drawn: 0 };

function show() {
	if (!frames.asked) {
		frames.asked = true;
		requestAnimationFrame(frame);
	}
}

/* What is looked at; stays within the trace, give or take a tenth. */
function look(from, to) {
	let span = Math.max(LEAST_SPAN, Math.min(to - from, index.span * 1.1));
	const middle = (from + to) / 2, edge = Math.max(span * 0.1, index.span * 0.02);
	from = Math.max(-edge, Math.min(middle - span / 2, index.span + edge - span));
	view.from = from;
	view.to = from + span;
	show();
}

/* Zooms so that the time under x stays there. */
function zoom(factor, x) {
	const at = timeOf(x === undefined ? pointerX() : x);
	look(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function pointerX() {
	return pointer.inside && pointer.x > GUTTER ? pointer.x : GUTTER + plotWidth() / 2;
}

function pan(part) {
	const by = (view.to - view.from) * part;
	look(view.from + by, view.to + by);
}

function centre() {
	const { selected } = view;
	if (selected) {
		const half = (view.to - view.from) / 2;
		look(selected.time - half, selected.time + half);
	}
}

function moveHeld(ms) {
	const speed = Math.min(ms, 50) / 1000;
	const down = (...names) => names.some((key) => held.has(key));
	if (down('w'))
		zoom(Math.exp(-3 * speed));
	if (down('s'))
		zoom(Math.exp(3 * speed));
	if (down('a', 'ArrowLeft'))
		pan(-1.2 * speed);
	if (down('d', 'ArrowRight'))
		pan(1.2 * speed);
	if (down('ArrowUp'))
		view.top -= 900 * speed;
	if (down('ArrowDown'))
		view.top += 900 * speed;
}

function frame(now) {
	frames.asked = false;
	if (held.size)
		moveHeld(frames.last ? now - frames.last : 16);
	const begin = performance.now();
	draw();
	outputsShow();
	if (pointer.inside)
		tipShow();
	frames.times.push({ at: now, draw: performance.now() - begin });
	if (frames.times.length > 4096)
		frames.times.shift();
	frames.drawn++;
	frames.last = held.size ? now : 0;
	if (held.size)
		show();
}

/* ---- what is under the pointer ---- */

function lineAt(y) {
	const at = y - RULER + view.top;
	return y < RULER ? null : view.lines.find((line) => at >= line.y && at < line.y + line.height) ?? null;
}

/*
 * The scope at a place: {from, to, level, event, ended, label}, or null. One that is too short to be hit is found
 * within a few pixels.
 */
function scopeAt(line, x, y) {
	const { sight } = view, time = timeOf(x), reach = 3 * (view.to - view.from) / plotWidth();
	const wanted = Math.floor((y - RULER + view.top - line.y - 2) / LEVEL_HEIGHT);
	let best = null, distance = Infinity;
	if (!sight.detail || x < GUTTER || wanted < 0)
		return null;
	const sightFrom = (from, to) => {
		const first = Math.min(chunkAt(from), sight.end);
		return { ...sight, from, to, first, end: Math.max(first, Math.min(chunkAt(to), sight.end)) };
	};
	eachSpan(line.row, sightFrom(time - reach, time + reach), (from, to, level, event, ended, label) => {
		const away = Math.max(from - time, time - to, 0);
		if (level === wanted && away <= reach && away < distance) {
			best = { from, to, level, event, ended, label };
			distance = away;
		}
	});
	return best;
}

/* Calls see() as eachSpan() does with what is in one part of the page; false where that is not at hand. */
function scopesIn(line, k, see) {
	if (!chunks.has(k))
		return false;
	eachSpan(line.row, { ...view.sight, from: -Infinity, to: Infinity, first: k, end: k }, see);
	return true;
}

/* A scope with its end and what calls in it took, if it ends within so many parts that are at hand. */
const SCOPE_PARTS = 8;

function scopeWhole(line, scope) {
	let ended = false, to = scope.to, inner = 0;
	const first = chunkAt(scope.from);
	for (let k = first; !ended && k < first + SCOPE_PARTS; k++) {
		const there = scopesIn(line, k, (from, end, level, event, ends) => {
			if (level === scope.level && from === scope.from && ends)
				[ended, to] = [true, end];
			else if (level === scope.level + 1 && from >= scope.from && ends && !ended)
				inner += end - from;
		});
		if (!there)
			break;
	}
	return { ...scope, ended, to, self: ended ? to - scope.from - inner : NaN };
}

function scopeText(line, part) {
	const scope = scopeWhole(line, part);
	return index.labels[scope.label] + ': ' + (scope.ended ? '' : 'at least ') + duration(scope.to - scope.from) +
		(isNaN(scope.self) ? '' : ', self ' + duration(scope.self)) + ', depth ' + scope.level;
}

/* The event that is nearest to a place on a line: that of a bar, or a mark within six pixels. */
function eventAt(line, x, y) {
	if (line.row >= 0 && rowTable()[line.row].kind === ROW_NEST)
		return scopeAt(line, x, y)?.event ?? -1;
	const sight = view.sight, time = timeOf(x), reach = 6 * (view.to - view.from) / plotWidth();
	if (!sight.detail || x < GUTTER)
		return -1;
	const narrow = { ...sight, from: time - reach, to: time + reach, first: chunkAt(time - reach) };
	narrow.end = Math.max(narrow.first, Math.min(chunkAt(time + reach), sight.end));
	if (narrow.first > sight.end)
		narrow.first = narrow.end = sight.end;
	let best = -1, distance = Infinity;
	const near = (chunk, e) => {
		const d = Math.abs(chunk.time[e] - time);
		if (d <= distance && d <= reach)
			[best, distance] = [chunk.first + e, d];
	};
	const row = line.row >= 0 ? rowTable()[line.row] : null;
	const covers = (from, to, event) => {
		if (from <= time && time < to)
			best = event;
	};
	if (row && row.kind === ROW_CPU)
		eachEvent('cpus', line.row, narrow, near);
	else if (row && row.has & HAS_STATES)
		eachState(line.row, narrow, (from, to, label, event) => covers(from, to, event));
	else if (row && row.has & HAS_SPANS)
		eachSpan(line.row, narrow, (from, to, lane, event) => covers(from, to, event));
	else if (row && row.has & HAS_COUNTERS)
		eachNumber(line.row, narrow, (from, to, value, event) => covers(from, to, event));
	else if (line.marks >= 0)
		eachEvent(rowTable()[line.marks].kind === 0 ? 'ids' : 'threads', line.marks, narrow, near);
	if (best < 0 && row && line.marks >= 0)
		eachEvent(rowTable()[line.marks].kind === 0 ? 'ids' : 'threads', line.marks, narrow, near);
	return best;
}

function click(x, y) {
	const line = lineAt(y), event = line ? eventAt(line, x, y) : -1;
	if (event >= 0)
		selectNumber(event).then(() => {
			if (line)
				view.selected.line = line;
			show();
		});
	else
		panelClose();
}

/* Zooms to the bar under the pointer, with a little room to either side. */
function doubleClick(x, y) {
	const line = lineAt(y), time = timeOf(x), row = line && line.row >= 0 ? rowTable()[line.row] : null;
	const scope = row && row.kind === ROW_NEST ? scopeAt(line, x, y) : null;
	let bar = scope && scopeWhole(line, scope);
	const covers = (from, to) => {
		if (from <= time && time < to && (!bar || to - from < bar.to - bar.from))
			bar = { from, to };
	};
	if (row && view.sight.detail && row.has & HAS_STATES)
		eachState(line.row, view.sight, covers);
	else if (row && view.sight.detail && row.has & HAS_SPANS && row.kind !== ROW_NEST)
		eachSpan(line.row, view.sight, covers);
	if (bar)
		look(bar.from - (bar.to - bar.from) / 8, bar.to + (bar.to - bar.from) / 8);
	else
		zoom(0.25, x);
}

/* What a counter was at a place on its line: exactly where its event is in the page, else between what numbers. */
function numberAt(line, x) {
	const row = rowTable()[line.row], { sight } = view, time = timeOf(x);
	const unit = (row.ident.match(/ \[[^[\]]+\]$/) ?? [''])[0].replace(/[[\]]/g, '');
	let text = '';
	if (x < GUTTER || sight.first >= index.chunks.length && !row.area)
		return text;
	if (!sight.detail) {
		const c = Math.floor(time / (index.span / index.columns)), least = row.area?.least[c], greatest = row.area?.greatest[c];
		return !(least <= greatest) ? '' : least === greatest ? least + unit : 'from ' + least + ' to ' + greatest + unit;
	}
	const at = Math.min(chunkAt(time), sight.end);
	eachNumber(line.row, { ...sight, from: time, to: time + 1, first: at, end: at }, (from, to, value, event) => {
		if (!(from <= time && time < to))
			return;
		const chunk = event >= 0 ? chunks.get(chunkOf(event)) : null, site = chunk && index.sites[chunk.site[event - chunk.first]];
		text = site ? valueText(site.args[site.valueArg], chunk.args(event - chunk.first)[site.valueArg], 0) : String(value);
	});
	return text && text + unit;
}

/* Goes to what the title is about, or the line below it: the row, and the longest time that it was so. */
function goToSaid(which) {
	const said = index.frame.said[which];
	if (!said)
		return;
	if (!view.lines.some((line) => line.row === said[0]) || view.by === 'cpus')
		showRows(index.views[index.first] ? index.first : 'threads');
	const line = view.lines.find((l) => l.row === said[0]), [, from, to] = said;
	if (line)
		view.top = line.y - picture.height / picture.ratio / 3;
	view.measure = { a: from, b: to };
	look(from - (to - from) / 2, to + (to - from) / 2);
}

function tipShow() {
	const tip = part('tip'), line = pointer.inside && !pointer.drag ? lineAt(pointer.y) : null;
	const event = line ? eventAt(line, pointer.x, pointer.y) : -1, chunk = event >= 0 ? chunks.get(chunkOf(event)) : null;
	let text = '';
	const row = line && line.row >= 0 ? rowTable()[line.row] : null;
	const scope = row && row.kind === ROW_NEST ? scopeAt(line, pointer.x, pointer.y) : null;
	if (line && pointer.x < GUTTER)
		text = line.text + (line.remark ? ': ' + line.remark : '');
	else if (isCounter(row))
		text = line.text + ': ' + (numberAt(line, pointer.x) || 'no value') + (line.remark ? ' (' + line.remark + ')' : '');
	else if (scope)
		text = scopeText(line, scope);
	else if (chunk)
		text = chunk.message(event - chunk.first);
	tip.hidden = text === '';
	tip.textContent = text.slice(0, 400);
	const box = canvas.getBoundingClientRect();
	tip.style.left = Math.max(4, Math.min(pointer.x + 14, box.width - tip.offsetWidth - 6)) + 'px';
	tip.style.top = Math.min(pointer.y + 16, box.height - tip.offsetHeight - 4) + 'px';
}

/* ---- input ---- */

function place(event) {
	const box = canvas.getBoundingClientRect();
	pointer.x = event.clientX - box.left;
	pointer.y = event.clientY - box.top;
	pointer.inside = true;
}

/* Is the pointer on the edge of the names? */
function gutterNear() {
	return Math.abs(pointer.x - GUTTER) < 5;
}

function pointerDown(event) {
	place(event);
	canvas.setPointerCapture(event.pointerId);
	const measures = event.shiftKey || pointer.y < RULER, gutter = gutterNear();
	pointer.drag = { x: pointer.x, y: pointer.y, from: view.from, to: view.to, top: view.top, measures, gutter, moved: false };
	part('tip').hidden = true;
}

function pointerMove(event) {
	place(event);
	const { drag } = pointer;
	if (!drag) {
		if (view.measure?.open) {
			view.measure.b = timeOf(pointer.x);
			show();
		}
		canvas.style.cursor = gutterNear() ? 'col-resize' : '';
		tipShow();
		return;
	}
	drag.moved = drag.moved || Math.abs(pointer.x - drag.x) + Math.abs(pointer.y - drag.y) > 3;
	if (!drag.moved)
		return;
	if (drag.gutter) {
		GUTTER = Math.max(80, Math.min(Math.round(pointer.x), picture.width / picture.ratio - 120));
		show();
	} else if (drag.measures) {
		view.measure = { a: timeOf(drag.x), b: timeOf(pointer.x) };
		show();
	} else {
		const by = (drag.x - pointer.x) / plotWidth() * (drag.to - drag.from);
		view.top = drag.top + drag.y - pointer.y;
		look(drag.from + by, drag.to + by);
	}
}

function pointerUp(event) {
	place(event);
	const { drag } = pointer;
	pointer.drag = null;
	if (drag && !drag.moved && !drag.measures && !drag.gutter)
		click(pointer.x, pointer.y);
}

function wheel(event) {
	const overflows = view.height + RULER > picture.height / picture.ratio;
	event.preventDefault();
	place(event);
	if (event.deltaX || event.shiftKey)
		pan((event.deltaX || event.deltaY) / plotWidth());
	else if (overflows && !event.ctrlKey && !event.metaKey)
		view.top += event.deltaY;
	else
		zoom(Math.exp(event.deltaY * 0.0015));
	show();
}

function measureHere() {
	const at = timeOf(pointerX());
	if (view.measure?.open)
		view.measure = { a: view.measure.a, b: at };
	else
		view.measure = { a: at, b: at, open: true };
}

function showRows(by) {
	if (!index.views[by])
		return;
	layout(by);
	if (view.selected)
		view.selected.line = null;
	legendShow();
	show();
}

function themeSet(dark) {
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	themeRead();
	legendShow();
	show();
}

function escape() {
	held.clear();
	part('search').value = '';
	searchStart('', false);
	view.measure = null;
	part('tip').hidden = true;
	panelClose();
	canvas.focus();
}

const actions = {
	'f': () => look(0, index.span),
	'/': () => part('search').focus(),
	'n': () => searchNext(1),
	'N': () => searchNext(-1),
	'[': () => selectNeighbour(-1),
	']': () => selectNeighbour(1),
	'c': centre,
	'm': measureHere,
	'z': () => view.measure && look(Math.min(view.measure.a, view.measure.b), Math.max(view.measure.a, view.measure.b)),
	'1': () => showRows('ids'),
	'2': () => showRows('threads'),
	'3': () => showRows('cpus'),
	't': () => themeSet(!theme.dark),
	'?': keysShow,
	'Escape': escape,
	'Home': () => look(0, view.to - view.from),
	'End': () => look(index.span - (view.to - view.from), index.span),
};
const holding = ['w', 'a', 's', 'd', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'];

function keyDown(event) {
	if (event.ctrlKey || event.metaKey || event.altKey || part('keys').open)
		return;
	if (event.target === part('search')) {
		if (event.key === 'Enter')
			searchNext(event.shiftKey ? -1 : 1);
		else if (event.key === 'Escape')
			escape();
		return;
	}
	if (holding.includes(event.key))
		held.add(event.key);
	else if (actions[event.key])
		actions[event.key]();
	else
		return;
	event.preventDefault();
	show();
}

function listen() {
	canvas.addEventListener('pointerdown', pointerDown);
	canvas.addEventListener('pointermove', pointerMove);
	canvas.addEventListener('pointerup', pointerUp);
	canvas.addEventListener('pointerleave', () => {
		pointer.inside = false;
		part('tip').hidden = true;
	});
	canvas.addEventListener('dblclick', (event) => {
		place(event);
		doubleClick(pointer.x, pointer.y);
	});
	canvas.addEventListener('wheel', wheel, { passive: false });
	addEventListener('keydown', keyDown);
	addEventListener('keyup', (event) => held.delete(event.key));
	addEventListener('blur', () => held.clear());
	new ResizeObserver(show).observe(canvas);
	let typed;
	part('search').addEventListener('input', () => {
		clearTimeout(typed);
		typed = setTimeout(() => searchStart(part('search').value, false), 250);
	});
	const buttons = { next: () => searchNext(1), previous: () => searchNext(-1), in: () => zoom(0.6, GUTTER + plotWidth() / 2),
		out: () => zoom(1 / 0.6, GUTTER + plotWidth() / 2), fit: actions.f, theme: actions.t, help: keysShow };
	for (const id in buttons)
		part(id).addEventListener('click', buttons[id]);
	const words = { ids: 'ids', threads: 'threads', cpus: 'CPUs' };
	for (const by in words)
		if (index.views[by]) {
			const button = element('button', { textContent: words[by], onclick: () => showRows(by) });
			button.dataset.by = by;
			part('by').append(button);
		}
}

function frameText() {
	const { frame: f } = index, lost = [f.lost, f.note];
	const also = element('span', { textContent: f.also });
	part('subtitle').replaceChildren(...f.also ? [also, ' · ', f.subtitle] : [f.subtitle]);
	[part('title'), also].slice(0, f.said.length).forEach((node, which) => {
		node.className = 'said';
		node.title = 'go there';
		node.tabIndex = 0;
		node.addEventListener('click', () => goToSaid(which));
		node.addEventListener('keydown', (event) => event.key === 'Enter' && goToSaid(which));
	});
	if (index.left_out)
		lost.push('this page holds the first ' + grouped(index.events) + ' events; of the ' + grouped(index.left_out) +
			' behind them it has only the overview');
	part('lost').textContent = lost.filter(Boolean).join('; ');
}

async function open() {
	await dataOpen();
	themeSet(matchMedia('(prefers-color-scheme: dark)').matches);
	frameText();
	listen();
	showRows(index.views[index.first] ? index.first : 'threads');
	chunkCame = show;
	look(0, index.span);
	canvas.focus();
	await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
	return performance.now();
}

/* For tests and for the console: ktr.ready is when the first picture was there, in milliseconds. */
window.ktr = { view, look, draw, frames, search, searchStart, searchNext, selectNumber, showRows, numberAt, held, chunkLater, sightOf, chunks,
	get index() { return index; } };
window.ktr.ready = open().catch((error) => {
	part('lost').textContent = 'This page cannot be shown: ' + error.message;
	throw error;
});
