/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the page, and turns keys and the pointer into what is looked at. One frame is drawn when
 * something has changed, and then none until something changes again: at once after an input, so that the screen has it one
 * frame earlier, else when the browser draws its next one.
 */

const LEAST_SPAN = 20;	/* [ns] */
const pointer = { x: 0, y: 0, inside: false, touch: false, name: null, drag: null, down: new Map(), pinch: null };
const held = new Set();	/* keys that move the view as long as they are down */
let shifted = false;	/* with shift they move it faster */
const AT_ONCE = 8;	/* [ms] between one frame and one that does not wait: half of what a screen has */
/* last: when the last one began; end: when it was drawn; whole: when the first one was that lacked nothing. */
const frames = { last: 0, asked: 0, end: 0, whole: 0 };

function show() {
	frames.asked ||= requestAnimationFrame(frame);
}

/* After an input. */
function showAtOnce() {
	const now = performance.now();
	if (frames.asked && now - frames.end > AT_ONCE) {
		cancelAnimationFrame(frames.asked);
		frame(now);
	}
}

/* What is looked at; stays within the trace, give or take a tenth. */
function look(from, to) {
	let span = max(LEAST_SPAN, min(to - from, index.span * 1.1));
	const middle = (from + to) / 2, edge = max(span * 0.1, index.span * 0.02);
	from = max(-edge, min(middle - span / 2, index.span + edge - span));
	view.from = from;
	view.to = from + span;
	changed(false);
}

/* Zooms so that the time under x stays there. */
function zoom(factor, x = pointerX()) {
	const at = timeOf(x);
	look(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

const pointerX = () => pointer.inside && pointer.x > GUTTER ? pointer.x : (GUTTER + plotRight()) / 2;


function pan(part) {
	const by = spanNow() * part;
	look(view.from + by, view.to + by);
}

/* With some room to either side. */
function lookAt(from, to, room) {
	look(from - (to - from) * room, to + (to - from) * room);
}

/* A moment comes into the middle. */
function lookAround(time) {
	const half = spanNow() / 2;
	look(time - half, time + half);
}

function scroll(by) {
	view.top += by;
	changed(false);
}

function moveHeld(ms) {
	const speed = min(ms, 50) / 1000 * (shifted ? 3 : 1);
	const ways = (more, less) => held.has(more) - held.has(less);
	zoom(exp(3 * speed * ways('s', 'w')));
	pan(1.2 * speed * ways('d', 'a'));
}

function frame(now) {
	frames.asked = 0;
	if (held.size)
		moveHeld(frames.last ? max(0, now - frames.last) : 16);
	const { detail, missing } = draw();
	chunksLeave();
	outputsShow();
	if (pointer.inside)
		tipShow();
	frames.end = performance.now();
	if (!detail || !missing)
		frames.whole ||= frames.end;
	window.ktr.drawn?.();
	frames.last = held.size ? now : 0;
	if (held.size)
		show();
}

/* ---- choosing ---- */

async function click(x, y) {
	const line = lineAt(y), note = noteAt(x, y);
	if (note)
		return noteAsk(note.time, note);
	if (line && x < GUTTER)
		return nameClick(line, x);
	if (line)
		for (let tries = 0; !sightNear(x, 6) && tries < 3; tries++)
			await Promise.all(coming.values());
	const thing = line && thingAt(line, x, y);
	if (!thing)
		return panelClose();
	if (thing.event < 0)
		return selectBar(thing, line);
	await selectNumber(thing.event);
	view.selected.line = line;
	return show();
}

/* Zooms to a bar, with a little room to either side. */
async function barFit(bar) {
	const { to } = bar.ended ? bar : await ask('whole', bar);
	linkWrite();
	changed();
	lookAt(bar.from, to, 1 / 8);
}

function doubleClick(x, y) {
	const line = lineAt(y), thing = line && thingAt(line, x, y);
	return !thing || thing.what === 'event' ? zoom(0.25, x) : barFit(thing);
}

/* What is selected; from there, or where nothing is, everything. */
async function fitSelected() {
	const { selected, from, to } = view;
	if (selected?.bar)
		await barFit(selected.bar);
	if (view.from === from && view.to === to)
		look(0, index.span);
}

const firstRows = () => showRows(index.views[index.first] ? index.first : 'threads');

/* Goes to what the title is about, or the line below it: the row, and the longest time that it was so. */
function goToSaid([row, from, to]) {
	if (!lineOfRow(row) || byCpus())
		firstRows();
	view.top = lineOfRow(row)?.y - plotBottom() / 3 || 0;
	view.measure = { a: from, b: to };
	lookAt(from, to, 1 / 2);
}

/* ---- input ---- */

function place(event) {
	const box = canvas.getBoundingClientRect();
	pointer.x = event.clientX - box.left;
	pointer.y = event.clientY - box.top;
	pointer.inside = true;
	pointer.touch = event.pointerType === 'touch';
	nameUnder(pointer.x < GUTTER ? lineAt(pointer.y)?.key : null);
}

/* The line whose name is pointed at. */
function nameUnder(key) {
	if (pointer.name !== key)
		show();
	pointer.name = key;
}

/* Is the pointer on the edge of the names? */
const gutterNear = () => abs(pointer.x - GUTTER) < 5;


/* Two fingers zoom, and move what is between them. */
function pinch() {
	const [a, b] = [...pointer.down.values()], wide = max(20, abs(a.x - b.x)), x = (a.x + b.x) / 2;
	const last = pointer.pinch;
	pointer.pinch = { wide, x, time: last?.time ?? timeOf(x) };
	if (last) {
		const span = spanNow() * last.wide / wide, from = last.time - (x - GUTTER) / plotWidth() * span;
		look(from, from + span);
	}
}

function pointerDown(event) {
	place(event);
	const { x, y, touch, down } = pointer, { from, to, top } = view, moves = touch || event.shiftKey || event.button === 1 || x < GUTTER;
	canvas.setPointerCapture(event.pointerId);
	down.set(event.pointerId, { x, y });
	pointer.pinch = null;
	pointer.drag = down.size > 1 ? null : { x, y, from, to, top, measures: !moves, gutter: gutterNear(), moved: false };
	if (down.size > 1)
		pinch();
	tipShow();
	if (event.button === 1)
		event.preventDefault();
}

function pointerMove(event) {
	place(event);
	const { drag } = pointer;
	if (pointer.down.has(event.pointerId))
		pointer.down.set(event.pointerId, { x: pointer.x, y: pointer.y });
	if (pointer.down.size > 1)
		return pinch();
	if (!drag) {
		if (view.measure?.open) {
			view.measure.b = timeOf(pointer.x);
			show();
		}
		canvas.style.cursor = gutterNear() ? 'col-resize' : '';
		return tipShow();
	}
	drag.moved ||= abs(pointer.x - drag.x) + abs(pointer.y - drag.y) > 3;
	if (!drag.moved)
		return;
	if (drag.gutter) {
		GUTTER = max(80, min(round(pointer.x), plotRight() - 120));
	} else if (drag.measures) {
		view.measure = { a: timeOf(drag.x), b: timeOf(max(GUTTER, pointer.x)), open: true };
	} else {
		const by = drag.x >= GUTTER ? (drag.x - pointer.x) / plotWidth() * (drag.to - drag.from) : 0;
		view.top = drag.top + drag.y - pointer.y;
		look(drag.from + by, drag.to + by);
	}
	show();
}

function pointerUp(event) {
	place(event);
	const { drag } = pointer;
	pointer.drag = pointer.pinch = null;
	pointer.down.delete(event.pointerId);
	if (!drag || drag.gutter || event.type === 'pointercancel')
		return;
	if (!drag.moved) {
		click(pointer.x, pointer.y);
	} else if (drag.measures) {
		view.measure.open = false;
		rangeShow();
	}
}

/* Scrolls; with ctrl, which is also what a pinch on a touchpad says, zooms; with shift moves in time. */
function wheel(event) {
	event.preventDefault();
	place(event);
	if (event.ctrlKey || event.metaKey)
		zoom(exp(max(-200, min(200, event.deltaY)) * (event.deltaMode || abs(event.deltaY) >= 50 ? 0.0025 : 0.01)));
	else if (event.deltaX || event.shiftKey)
		pan((event.deltaX || event.deltaY) / plotWidth());
	else if (view.height + RULER > plotBottom())
		scroll(event.deltaY);
	else
		hint(words('wheel'));
	show();
}

let hinted;

function hint(text) {
	put('said', text);
	clearTimeout(hinted);
	hinted = setTimeout(() => put('said', ''), 2500);
}

/* The map: what is in sight goes where the pointer is. */
function mapPointer(event) {
	if (event.type === 'pointerdown')
		mapCanvas.setPointerCapture(event.pointerId);
	if (!event.buttons)
		return;
	lookAround(mapTime(event.clientX - mapCanvas.getBoundingClientRect().left));
}

/* What is selected becomes the range, with its end; else the first press is one end, and the second the other. */
function measureHere() {
	const b = timeOf(pointerX()), bar = view.selected?.bar, { a, open } = view.measure ?? {};
	view.measure = open ? { a, b } : bar?.to > bar?.from ? { a: bar.from, b: bar.to + 1 } : { a: b, b, open: true };
	if (!view.measure.open)
		rangeShow();
}

function showRows(by) {
	if (!index.views[by])
		return;
	layout(by);
	legendShow();
	changed();
}

let darkWished = matchMedia('(prefers-color-scheme: dark)').matches;	/* paper is light */

function themeSet(dark = darkWished) {
	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	themeRead(dark);
	legendShow();
	show();
}

function escape() {
	held.clear();
	searchFor('');
	flow.name = flowFirst();
	drawerClose();
	panelClose();
	canvas.focus();
}

const actions = {
	'f': fitSelected,
	'/': () => part('search').focus(),
	'n': () => searchNext(1),
	'N': () => searchNext(-1),
	'[': () => selectNeighbour(-1),
	']': () => selectNeighbour(1),
	',': () => kindStep(-1),
	'.': () => kindStep(1),
	'l': kindLongest,
	'c': () => view.selected && lookAround(view.selected.time),
	'm': measureHere,
	'o': () => noteAsk(timeOf(pointerX()), noteAt(pointer.x, pointer.y)),
	'y': linkCopy,
	'v': () => {
		view.measure = { a: view.from, b: view.to };
		rangeShow();
	},
	'z': () => view.measure && look(...measured()),
	'1': () => showRows('ids'),
	'2': () => showRows('threads'),
	'3': () => showRows('cpus'),
	'Enter': () => choose('fold', lineNow()),
	'p': () => choose('pin', lineNow()),
	'x': () => choose('hide', lineNow()),
	'X': () => chosenSet('hide', new Set()),
	'-': foldAll,
	'r': () => part('names').focus(),
	'b': () => {
		const orders = ['', ...Object.keys(ORDERS)];
		chosenSet('sort', orders[(orders.indexOf(chosen.sort) + 1) % orders.length]);
	},
	't': () => themeSet(darkWished = !darkWished),
	'+': () => zoom(0.6),
	'_': () => zoom(1 / 0.6),
	'?': () => part('keys').showModal(),
	'Escape': escape,
	'close': panelClose,
	'drawer': drawerClose,
	'copy': () => copyText(commandText()),
	'ArrowLeft': () => barStep(-1),
	'ArrowRight': () => barStep(1),
	'ArrowUp': () => rowStep(-1),
	'ArrowDown': () => rowStep(1),
	'PageUp': () => scroll(RULER - plotBottom()),
	'PageDown': () => scroll(plotBottom() - RULER),
	'Home': () => look(0, spanNow()),
	'End': () => look(index.span - spanNow(), index.span),
};
const holding = ['w', 'a', 's', 'd'];
const back = () => canvas.focus();
/* What keys do in fields, beside what fields do. */
const fields = {
	names: { Enter: back, Escape: () => {
		chosenSet('names', '');
		back();
	} },
	sort: { Enter: back, Escape: back },
	search: { Enter: () => searchNext(shifted ? -1 : 1), Escape: escape },
};

function keyDown(event) {
	const { key, target: { id } } = event, low = key.toLowerCase();
	shifted = event.shiftKey;
	if (event.ctrlKey || event.metaKey || event.altKey || part('keys').open)
		return null;
	const own = fields[id];
	if (own)
		return own[key]?.();
	if (holding.includes(low))
		held.add(low);
	else if (!actions[key] || (/Enter|Arrow|Page/.test(key) && event.target !== canvas && event.target !== document.body))
		return null;
	else
		actions[key]();
	event.preventDefault();
	return show();
}

function listen() {
	let typed;
	const on = (node, handlers) => Object.entries(handlers).forEach(([type, handler]) => node.addEventListener(type, (event) => {
		handler(event);
		showAtOnce();
	}, { passive: false }));
	on(canvas, { pointerdown: pointerDown, pointermove: pointerMove, pointerup: pointerUp, pointercancel: pointerUp, wheel,
		auxclick: (event) => event.preventDefault(),
		pointerleave: () => {
			pointer.inside = false;
			tipShow();
			nameUnder(null);
		},
		dblclick: (event) => {
			place(event);
			doubleClick(pointer.x, pointer.y);
		} });
	on(window, { keydown: keyDown, popstate: linkFollow, hashchange: linkFollow, blur: () => held.clear(), beforeprint: () => {
			themeSet(false);
			draw();
		}, afterprint: () => themeSet(),
		keyup: (event) => {
			shifted = event.shiftKey;
			held.delete(event.key.toLowerCase());
		} });
	on(mapCanvas, { pointerdown: mapPointer, pointermove: mapPointer,
		wheel: (event) => {
			event.preventDefault();
			zoom(exp(event.deltaY * 0.0025));
		} });
	new ResizeObserver(show).observe(canvas);
	for (const what of ['names', 'sort'])
		on(part(what), { input: () => chosenSet(what, part(what).value) });
	on(part('search'), { input: () => {
		clearTimeout(typed);
		typed = setTimeout(() => searchStart(part('search').value), 250);
	} });
	on(document, { click: (event) => actions[event.target.closest('button[data-key]')?.dataset.key]?.() });
	for (const choice of part('by').children)
		choice.hidden = !index.views[choice.dataset.by];
}

function frameText() {
	const { frame: { lost, note, also, subtitle, said }, left_out: out } = index, second = element('span', '', also);
	part('subtitle').replaceChildren(...also ? [second, ' · ', subtitle] : [subtitle]);
	[part('title'), second].slice(0, said.length).forEach((node, which) =>
		Object.assign(node, { className: 'said', title: 'go there', ...pressed(() => goToSaid(said[which])) }));
	put('lost', [lost, note, out && `this page holds the first ${grouped(index.events)} events; of the ${grouped(out)} behind them it has only the overview`]
		.filter(Boolean).join('; '));
}

async function open() {
	await dataOpen(true);
	themeSet();
	frameText();
	listen();
	flow.name = flowFirst();
	firstRows();
	chunkCame = show;
	if (index.overview)
		chunkMake = async (number) => Object.setPrototypeOf(await ask('chunk', { number, bytes: await blobOf('c' + number) }), Chunk.prototype);
	look(...index.look ?? [0, index.span]);
	if (location.hash.length > 1)
		linkFollow();
	canvas.focus();
	showAtOnce();
	/* What was drawn is handed on between these two. */
	await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
	return performance.now();
}

/*
 * For tests, for the console, and for a page that compares two (compare.js), which sets drawn, called after each frame. ready is
 * when the first picture was there, in milliseconds.
 */
window.ktr = { view, look, draw, frames, search, searchStart, selectNumber, showRows, held, chunkLater, sightOf, drawer, chosen, flow, ask,
	get index() { return index; } };
window.ktr.ready = open().catch((error) => {
	part('lost').textContent = 'This page cannot be shown: ' + error.message;
	throw error;
});
