/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which lines a view shows, and in which order: what lies below a line folds, rows are pinned above the others, hidden,
 * chosen by name, and sorted. A line is known by its name behind those it lies below, so that links hold for another page
 * of the trace.
 */

const chosen = { fold: new Set(), pin: new Set(), hide: new Set(), names: '', sort: '' };
const ORDERS = {
	name: (a, b) => a.text.localeCompare(b.text, 'en', { numeric: true }),
	busy: (a, b) => b.busy - a.busy,
	first: (a, b) => a.first - b.first,
};
const isHeading = (line) => line.row < 0 && line.marks < 0;

/* The lines of a view in each other; one that others lie below is as busy as the busiest, and begins with the first of them. */
function treeOf(by) {
	const root = { depth: -2, below: [], key: '' };
	let path = [root];
	for (const line of index.views[by].lines) {
		const depth = isHeading(line) ? -1 : line.indent;
		path = path.filter((over) => over.depth < depth);
		const above = path.at(-1), first = line.first ?? Infinity;
		const here = { ...line, depth, above, first, below: [], key: (above.key && above.key + '/') + line.text };
		for (const over of path)
			Object.assign(over, { busy: max(over.busy, line.busy), first: min(over.first, first) });
		above.below.push(here);
		path.push(here);
	}
	return root;
}

/* Lays the lines of a view out: pinned ones stay where they are while the others scroll. */
function layout(by) {
	const pinned = [], rest = [], wanted = chosen.names.toLowerCase(), order = ORDERS[chosen.sort];
	const fits = (line) => line.text.toLowerCase().includes(wanted), any = (line) => fits(line) || line.below.some(any);
	const put = (line, folded, all) => {
		if (chosen.hide.has(line.key) || !(all || any(line)))
			return;
		line.pinned = chosen.pin.has(line.key);
		if (line.pinned)
			pinned.push(line);
		else if (!folded)
			rest.push(line);
		putAll(line, folded || chosen.fold.has(line.key), all || fits(line));
	};
	const putAll = ({ below }, ...how) => (order ? below.sort(order) : below).forEach((line) => put(line, ...how));
	const place = (y, line) => {
		line.text = line.pinned && line.depth > 0 ? line.above.text + ' ' + line.text : line.text;
		Object.assign(line, { y, at: y, height: lineHeight(line) });
		return y + line.height;
	};
	view.by = by;
	putAll(treeOf(by), false, false);
	view.pinned = pinned.reduce(place, 0);
	view.height = rest.reduce(place, view.pinned);
	view.lines = [...pinned, ...rest];
	if (view.selected)
		view.selected.line = byCpus() ? null : lineOfRow(view.selected.bar?.row);
}

const lineNow = () => view.lines.find((line) => line.key === view.current);

/* After something was chosen; where the line that one was on has gone, the one that took its place is it. */
function linesShow() {
	const at = view.lines.indexOf(lineNow());
	layout(view.by);
	if (at >= 0 && !lineNow())
		view.current = view.lines[min(at, view.lines.length - 1)]?.key;
	part('names').value = chosen.names;
	part('sort').value = chosen.sort;
	put('hidden', chosen.hide.size + ' hidden');
	part('hidden').hidden = !chosen.hide.size;
	changed();
}

/* Folds, pins or hides a line, or undoes that. */
function choose(what, line) {
	if (!line || (what === 'fold' && !line.below.length) || (what === 'pin' && isHeading(line)))
		return;
	if (!chosen[what].delete(line.key))
		chosen[what].add(line.key);
	linesShow();
}

/* Folds everything, or unfolds it where all is folded. */
function foldAll() {
	const lines = [], add = (line) => line.below.length && lines.push(line.key) && line.below.forEach(add);
	treeOf(view.by).below.forEach(add);
	const folded = lines.every((key) => chosen.fold.has(key));
	lines.forEach((key) => chosen.fold[folded ? 'delete' : 'add'](key));
	linesShow();
}

/* Names that rows must have, their order, or what is hidden. */
function chosenSet(what, value) {
	chosen[what] = value;
	linesShow();
}

/* What can be done with a line, at the right of its name while that is pointed at: {text, what, x, wide}. */
function wordsOf(line) {
	const words = ['hide', ...isHeading(line) ? [] : [line.pinned ? 'unpin' : 'pin']];
	let x = GUTTER - 4;
	pen.font = NAME;
	return words.map((text) => {
		const wide = pen.measureText(text).width + 12;
		x -= wide + 3;
		return { text, what: text === 'hide' ? text : 'pin', x, wide };
	});
}

function drawWords(line, y) {
	for (const { text, x, wide } of wordsOf(line)) {
		fillAt(theme.line, x, y - 8, wide, 16);
		write(text, x + 6, y, theme.ink);
	}
}

/* A click on a name: what its words say, if they were to be seen, else what lies below it folds. */
function nameClick(line, x) {
	const word = (!pointer.touch || line.key === view.current) && wordsOf(line).find((one) => x >= one.x && x < one.x + one.wide);
	view.current = line.key;
	choose(word ? word.what : 'fold', line);
	show();
}
