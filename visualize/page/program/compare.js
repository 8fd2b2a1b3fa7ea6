/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two pages above each other in one file: what is in sight of one is in sight of the other, as far apart as they are aligned,
 * and below stands what differs between their numbers. Each is a page of its own in a frame, of the same origin, and is asked
 * by its ktr (main.js), which draws, selects and counts as it does alone.
 */

const sides = {};	/* A, B: {name, window, ktr} */
const state = {
	shift: 0,	/* [ns] a moment of A, since its trace began, lies above the one so much later in B */
	leader: null,	/* the side that was used last; the other one follows */
	range: null,	/* of A: [from, to] since its trace began; null: everything */
	bar: null,	/* the bar that was told of last */
	kind: null,	/* {what, group, ident, name} whose durations are compared; null: the table of names is shown */
	lines: [], sort: { head: 'B − A', down: true },
	run: 0, kindRun: 0,	/* of questions: an older one's answer comes too late */
};
const otherOf = (side) => side === sides.A ? sides.B : sides.A;
const since = (side) => side.ktr.index.from;	/* when its page begins in its trace */
const signed = (ns) => isNaN(ns) ? '-' : (ns > 0 ? '+' : '') + duration(Math.round(ns));
const plain = (ns) => isNaN(ns) ? '-' : duration(Math.round(ns));
const share = (a, b) => !(a > 0) || isNaN(b) ? '-' : (b >= a ? '+' : '−') + abs(100 * (b / a - 1)).toFixed(1) + ' %';

/* ---- what is in sight ---- */

/* A moment of one side's page as the other side's page has it. */
function across(side, time) {
	const other = otherOf(side), shift = side === sides.A ? state.shift : -state.shift;
	return time + since(side) + shift - since(other);
}

/* After each frame of a page: the other one shows the same stretch, and what was chosen in it is told of. */
function follow(side) {
	const { view, drawer } = side.ktr, other = otherOf(side);
	if (state.leader !== side)
		return;
	const [from, to] = [across(side, view.from), across(side, view.to)];
	if (other.ktr.view.from !== from || other.ktr.view.to !== to) {
		Object.assign(other.ktr.view, { from, to });
		other.window.show();
	}
	if (other.ktr.view.by !== view.by)
		other.ktr.showRows(view.by);
	const range = drawer.range && [drawer.range.from, drawer.range.to].map((time) => side === sides.A ? time + since(side) : across(side, time) + since(other));
	if (String(range) !== String(side.range)) {
		state.range = side.range = range;
		other.ktr.view.measure = range && { a: across(side, drawer.range.from), b: across(side, drawer.range.to) };
		other.window.show();
		numbersShow();
	}
	if (view.selected?.bar && view.selected.bar !== state.bar) {
		state.bar = view.selected.bar;
		kindShow(kindNamed(side, side.window.kindOf(state.bar)));
	}
}

function lead(side) {
	state.leader = side;
}

/* ---- aligning ---- */

/* A kind by names, which hold for both. */
const kindNamed = (side, { label, ...kind }) => label === undefined ? kind : { ...kind, name: side.ktr.index.labels[label] };

/* The same as a side has it; null: it has none. */
function kindOn(side, { name, ...kind }) {
	const { index } = side.ktr, label = name === undefined ? undefined : kind.what === 'state' ? index.labelOf.get(name) :
		index.scopes.find((i) => index.labels[i] === name);
	return name === undefined ? kind : label === undefined ? null : { ...kind, label };
}

const kindText = ({ what, group, ident, name }) => what === 'scope' ? name : what === 'span' ? group + ' ' + ident : group + ': ' + name;

/* The first event of a side that is like the one that is selected on the other. */
async function firstLike(side) {
	const { bar, event } = otherOf(side).ktr.view.selected;
	if (bar) {
		const kind = kindOn(side, kindNamed(otherOf(side), otherOf(side).window.kindOf(bar)));
		return kind ? (await side.ktr.ask('kind', { kind, took: NaN, event: -1 })).after : -1;
	}
	const page = otherOf(side).ktr, chunk = await page.chunkLater(otherOf(side).window.chunkOf(event)), { func, format } = page.index.sites[chunk.site[event - chunk.first]];
	const quoted = (text) => '"' + text.replace(/["\\]/g, '\\$&') + '"';
	const found = await side.ktr.ask('search', { text: `func == ${quoted(func)} and format == ${quoted(format)}` });
	return found.list[0]?.[0] ?? -1;
}

async function alignSelected() {
	const { A, B } = sides, chosen = [A, B].filter((side) => side.ktr.view.selected);
	if (!chosen.length)
		return put('aligned', 'select a bar or an event in one of the traces first');
	for (const side of [A, B])
		if (!side.ktr.view.selected) {
			const event = await firstLike(side);
			if (event < 0)
				return put('aligned', 'there is nothing like it in ' + side.name);
			await side.ktr.selectNumber(event, false);
		}
	const [a, b] = [A, B].map((side) => side.ktr.view.selected.time + since(side));
	return align(b - a, [a, b]);
}

/* Lays the sides above each other; at the moments, if there are some, a note says so. */
function align(shift, moments) {
	state.shift = shift;
	[sides.A, sides.B].forEach((side, i) => {
		const notes = side.ktr.view.notes.filter(({ text }) => text !== 'aligned');
		side.ktr.view.notes = moments ? [...notes, { time: moments[i] - since(side), text: 'aligned' }] : notes;
		side.window.show();
	});
	put('aligned', !shift ? 'aligned at the beginnings' : 'what is in A at a moment lies above B ' + duration(abs(shift)) + (shift > 0 ? ' later' : ' earlier'));
	lead(state.leader ?? sides.A);
	follow(state.leader);
	numbersShow();
}

/* ---- the link ---- */

const link = { timer: 0, now: '', reads: false };

/* How far the sides are apart, and what each of them would have in its own address (link.js). */
function linkText() {
	const [A, B] = [sides.A, sides.B].map(({ window }) => window.linkText().slice(1));
	return '#' + new URLSearchParams({ align: state.shift, A, B });
}

/* Back goes through what was chosen, not through every move. */
function linkWrite() {
	const text = linkText(), chosen = (link) => link.replace(/view%3D-?\d+\.\.-?\d+/g, '');
	if (link.reads)
		return;
	if (text !== link.now)
		history[link.now && chosen(text) !== chosen(link.now) ? 'pushState' : 'replaceState'](null, '', text);
	link.now = text;
}

async function linkRead() {
	const set = new URLSearchParams(location.hash.slice(1));
	link.reads = true;
	align(Number(set.get('align')) || 0);
	for (const name of ['A', 'B'])
		await sides[name].window.linkRead(set.get(name) ?? '');
	link.now = location.hash;
	link.reads = false;
	lead(sides.A);
	follow(sides.A);
}

/* ---- numbers ---- */

/* What happened on a side in the range, by names: name to {n, self, mean, p99, max, kind, event}. */
async function numbersOf(side) {
	const { index } = side.ktr, { A } = sides, whole = { from: 0, to: index.span + 1 };
	const range = state.range?.map((time) => time - since(A)).map((time) => side === A ? time : across(A, time));
	const told = await side.ktr.ask('window', range ? { from: range[0], to: range[1] } : whole), all = new Map();
	for (const { kind, ...line } of told.lines)
		all.set(line.name, { ...line, kind: kindNamed(side, kind) });
	for (const { row, label, ns } of told.states) {
		const kind = { what: 'state', group: index.rows[row].group, name: index.labels[label] }, name = kindText(kind);
		const before = all.get(name) ?? { name, kind, n: NaN, self: 0, mean: NaN, p99: NaN, max: NaN };
		all.set(name, { ...before, self: before.self + ns });
	}
	return { all, took: range ? range[1] - range[0] : index.last, events: told.events };
}

const COLUMNS = [['name', (l) => l.name, String], ['count A', (l) => l.a.n, grouped], ['count B', (l) => l.b.n, grouped],
	['self A', (l) => l.a.self, plain], ['self B', (l) => l.b.self, plain], ['B − A', (l) => l.more, signed], ['mean A', (l) => l.a.mean, plain],
	['mean B', (l) => l.b.mean, plain], ['mean', (l) => l.b.mean / l.a.mean - 1, (of, l) => share(l.a.mean, l.b.mean)],
	['p99 A', (l) => l.a.p99, plain], ['p99 B', (l) => l.b.p99, plain], ['max A', (l) => l.a.max, plain], ['max B', (l) => l.b.max, plain]];
const NONE = { n: 0, self: 0, mean: NaN, p99: NaN, max: NaN };

async function numbersShow() {
	const run = ++state.run, [a, b] = await Promise.all([numbersOf(sides.A), numbersOf(sides.B)]);
	if (run !== state.run)
		return;
	state.lines = [...new Set([...a.all.keys(), ...b.all.keys()])].map((name) => {
		const line = { name, a: a.all.get(name) ?? NONE, b: b.all.get(name) ?? NONE };
		return { ...line, more: line.b.self - line.a.self, kind: line.a.kind ?? line.b.kind };
	});
	const busy = state.lines.filter(({ kind }) => kind.what !== 'state'), most = (busy.length ? busy : state.lines)
		.reduce((x, y) => y && abs(y.more) > abs(x?.more ?? 0) ? y : x, null);
	const said = state.range ? 'In the range' : b.took === a.took ? 'Both took ' + plain(a.took) : `B took ${plain(b.took)}, A ${plain(a.took)}: ` +
		(a.took > 0 ? share(a.took, b.took) : '');
	put('headline', said + (most ? `. ${state.range ? 'Most' : 'Most of it'}: ${most.name}, ${signed(most.more)} by itself` +
		(most.a.n > 0 && most.b.n > 0 ? `, ${grouped(most.b.n)} times ${plain(most.b.mean)} for ${grouped(most.a.n)} times ${plain(most.a.mean)}` : '') : ''));
	drawerShow();
}

function sortBy(head) {
	state.sort = { head, down: state.sort.head === head ? !state.sort.down : head !== 'name' };
	drawerShow();
}

function namesTable() {
	const { head, down } = state.sort, get = COLUMNS.find(([name]) => name === head)[1], value = (l) => typeof get(l) === 'number' ?
		(isNaN(get(l)) ? -Infinity : head === 'B − A' ? abs(get(l)) : get(l)) : get(l);
	const lines = state.lines.slice().sort((x, y) => (value(x) < value(y) ? -1 : value(x) > value(y) ? 1 : 0) * (down ? -1 : 1));
	return element('table', '', element('thead', '', element('tr', '', ...COLUMNS.map(([name]) => columnHead(name, '', state.sort, sortBy)))),
	element('tbody', '', ...lines.slice(0, 500).map((line) => {
		const row = element('tr', pressed(() => lineGo(line)));
		COLUMNS.forEach(([name, of, show]) => row.append(element('td', (typeof of(line) === 'number' ? 'number' : '') +
			(name === 'B − A' && line.more > 0 ? ' worse' : ''), typeof of(line) === 'number' && isNaN(of(line)) ? '-' : show(of(line), line))));
		return row;
	})));
}

/* The longest of a name on both sides, and all of its durations. */
async function lineGo({ a, b, kind }) {
	for (const [side, { event }] of [[sides.B, b], [sides.A, a]])
		if (event >= 0) {
			await side.ktr.selectNumber(event, false);
			state.bar = side.ktr.view.selected.bar;
		}
	kindShow(kind);
}

/* ---- a kind ---- */

/* Durations of a kind on both sides, counted in the same steps. */
async function kindAsk(kind) {
	const ask = async (side, range) => {
		const of = kindOn(side, kind), answer = of && await side.ktr.ask('kind', { kind: of, took: NaN, event: -1, range });
		return answer?.n ? answer : null;
	};
	const first = await Promise.all([ask(sides.A), ask(sides.B)]), known = first.filter(Boolean).map(({ bars }) => bars);
	const range = known.length && [Math.min(...known.map(({ low }) => low)), Math.max(...known.map(({ high }) => high))];
	return known.length < 2 ? first : Promise.all([ask(sides.A, range), ask(sides.B, range)]);
}

async function kindShow(kind) {
	const run = ++state.kindRun;
	state.kind = { kind, answers: null };
	drawerShow();
	const answers = await kindAsk(kind);
	if (run !== state.kindRun)
		return;
	state.kind = { kind, answers };
	drawerShow();
}

/* How often how long, as shares: of both as lines, and below how many more B has. */
function differences([a, b]) {
	const wide = 620, tall = 92, low = 40, { bars: { low: from, high: to, count } } = a ?? b, n = count.length, step = wide / n;
	const of = (answer) => answer ? answer.bars.count.map((c) => c / answer.n) : new Array(n).fill(0), [x, y] = [of(a), of(b)];
	const most = Math.max(...x, ...y), apart = Math.max(...x.map((v, i) => abs(y[i] - v))) || 1;
	const line = (values, side) => svg('polyline', { class: side, points: values.flatMap((v, i) => [i, i + 1].map((k) =>
		`${(k * step).toFixed(1)},${(tall - v / most * (tall - 4)).toFixed(1)}`)).join(' ') });
	const at = (k) => plain(from * (to / from) ** (k / n));
	const bars = x.map((v, i) => {
		const d = y[i] - v, high = abs(d) / apart * low / 2, bar = svg('rect', { class: d > 0 ? 'B' : 'A', x: i * step + 1, width: step - 2,
			y: tall + 8 + low / 2 - (d > 0 ? high : 0), height: high });
		bar.append(svg('title', {}, `from ${at(i)} to ${at(i + 1)}: A ${(100 * v).toFixed(1)} %, B ${(100 * y[i]).toFixed(1)} %`));
		return bar;
	});
	const text = (px, py, words, anchor = 'start') => svg('text', { x: px, y: py, 'text-anchor': anchor }, words);
	return svg('svg', { viewBox: `0 0 ${wide} 162`, role: 'img', 'aria-label': 'how many took how long in A and in B, and the difference' },
		line(x, 'A'), line(y, 'B'), svg('line', { x1: 0, x2: wide, y1: tall + 8 + low / 2, y2: tall + 8 + low / 2, stroke: 'currentColor', 'stroke-width': 0.5 }), ...bars,
		text(0, 158, plain(from)), text(wide, 158, plain(to), 'end'), text(wide / 2, 158, 'lines: shares that took so long; bars: where B has more (up) or A (down)', 'middle'));
}

function kindTable({ kind, answers }) {
	if (!answers)
		return [element('p', '', '…')];
	const [a, b] = answers, numbers = [['mean', 'mean'], ['p50', 'p50'], ['p99', 'p99'], ['longest', 'max']];
	const line = (tag, ...cells) => element('tr', '', ...cells.map((cell, i) => element(tag, i ? 'number' : '', cell)));
	const of = (name, answer) => line('td', element('span', '', element('i', 'swatch ' + name), name), answer ? grouped(answer.n) : '0', ...numbers.map(([, key]) => answer ? plain(answer[key]) : '-'));
	const more = a && b ? [line('td', 'B − A', (b.n > a.n ? '+' : '') + grouped(b.n - a.n), ...numbers.map(([, key]) => signed(b[key] - a[key]) + ' (' + share(a[key], b[key]) + ')'))] : [];
	return [element('div', 'kind', element('div', '', element('h3', '', kindText(kind)),
		element('table', '', line('th', '', 'count', ...numbers.map(([name]) => name)), of('A', a), of('B', b), ...more)), ...a || b ? [differences(answers)] : [])];
}

function drawerShow() {
	const tab = (text, on, go) => button(text, '', go, { ariaPressed: String(on) });
	const back = () => {
		state.kindRun++;	/* what is being counted is not shown any more */
		state.kind = null;
		drawerShow();
	};
	part('drawer').replaceChildren(element('div', 'bar', tab('names', !state.kind, back), ...state.kind ? [tab(kindText(state.kind.kind), true, () => {})] : [],
		element('span', '', state.kind ? 'of the whole of both traces' : state.range ? 'of the range' : 'of the whole of both traces; a click on a line: its durations')),
	element('div', 'scroll', ...state.kind ? kindTable(state.kind) : [namesTable()]));
}

/* ---- opening ---- */

async function frameOpen(name) {
	const frame = part('frame' + name), text = new TextDecoder().decode(await unpack(name));
	const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
	frame.srcdoc = text;
	await loaded;
	const { contentWindow: window, contentDocument: inside } = frame, side = sides[name] = { name, window, ktr: window.ktr };
	inside.documentElement.dataset.inner = '';
	await side.ktr.ready;
	for (const type of ['pointerdown', 'wheel', 'keydown'])
		window.addEventListener(type, () => lead(side), { capture: true, passive: true });
	window.addEventListener('keydown', keyDown);
	side.ktr.drawn = () => {
		if (!sides.A || !sides.B)
			return;
		follow(side);
		clearTimeout(link.timer);
		link.timer = setTimeout(linkWrite, 300);
	};
}

function keyDown(event) {
	const action = { '=': alignSelected, 0: () => align(0) }[event.key];
	if (!action || event.target.tagName === 'INPUT' || event.ctrlKey || event.metaKey || event.altKey)
		return;
	event.preventDefault();
	action();
}

/* A name that both have has A's colour in both; which one it is depends on what came before it. */
function colour() {
	const [a, b] = [sides.A.ktr.index, sides.B.ktr.index], of = new Map(a.labels.map((name, i) => [name, a.colours[i]]));
	b.colours = b.labels.map((name, i) => of.get(name) ?? b.colours[i]);
}

async function open() {
	document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
	await Promise.all(['A', 'B'].map(frameOpen));
	const { A, B } = sides, to = Math.max(A.ktr.index.span + since(A), B.ktr.index.span + since(B));
	colour();
	part('align').onclick = alignSelected;
	part('begin').onclick = () => align(0);
	window.addEventListener('keydown', keyDown);
	Object.assign(A.ktr.view, { from: -since(A), to: to - since(A) });
	A.window.show();
	align(0);
	if (location.hash.length > 1)
		await linkRead();
	window.addEventListener('popstate', linkRead);
	window.addEventListener('hashchange', linkRead);
	return performance.now();
}

window.compare = { sides, state };
window.compare.ready = open().catch((error) => {
	put('headline', 'This page cannot be shown: ' + error.message);
	throw error;
});
