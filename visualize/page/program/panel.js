/* SPDX-License-Identifier: BSD-2-Clause */
/* What is around the plot. */

/* The line that an event is best seen on. */
function lineOfEvent(chunk, e) {
	const cpus = byCpus(), row = chunk.list(cpus ? 'cpus' : 'ids').row[e], thread = cpus ? -1 : chunk.list('threads').row[e];
	return lineOfRow(row) ?? view.lines.find((line) => thread >= 0 && line.marks === thread);
}

/* The bar that an event begins or, as a STOP, ends; null if it is on none. */
function barOfEvent(chunk, e) {
	const { kind, scope } = chunk.siteOf(e), row = chunk.list('ids').row[e], event = chunk.first + e, lane = chunk.lane[e] - 1, to = chunk.time[e];
	let bar = null;
	if (row < 0 || (kind >= KIND_START && lane < 0))
		return null;
	const what = isNest(row) ? 'scope' : 'span';
	if (kind === KIND_STATE)
		return { what: 'state', row, lane: 0, from: to, to, event, ended: false, label: chunk.label[e] };
	if (kind === KIND_START)
		return { what, row, lane, from: beganAt(chunk, e), to, event, ended: false, label: scope };
	if (kind === KIND_STOP)
		walkSpans(row, chunk.number, to, (span, at, time, told) => {
			if (told && at === lane && time === to)
				bar = { what, row, lane, ...span, to, ended: true };
		});
	return bar;
}

function lineIntoSight(line) {
	const visible = plotBottom() - RULER;
	if (line && !line.pinned && (line.y < view.top + view.pinned || line.y + line.height > view.top + visible))
		view.top = line.y - visible / 2;
}

function selectEvent(chunk, e, moveThere) {
	const time = chunk.time[e], line = lineOfEvent(chunk, e), bar = barOfEvent(chunk, e);
	view.selected = { event: chunk.first + e, time, line, bar };
	if (moveThere && (time < view.from || time > view.to))
		lookAround(time);
	if (moveThere)
		lineIntoSight(line);
	if (bar)
		barShow(bar, chunk, e);
	else
		panelShow(chunk, e);
	changed();
}

/* A bar whose beginning is not in the page. */
function selectBar(bar, line) {
	view.selected = { event: -1, time: bar.from, line, bar };
	barShow(bar, null, -1);
	show();
}

async function selectNumber(event, moveThere = true) {
	const chunk = await chunkLater(chunkOf(event));
	selectEvent(chunk, event - chunk.first, moveThere);
}

/*
 * The next event on a line, or the one before, for which wanted() is true, from an event on, up to one for which it is null:
 * selects it. Of no line, any event is next.
 */
async function selectOn(line, event, direction, wanted = () => true) {
	const row = !line ? -1 : line.row >= 0 ? line.row : line.marks;
	const what = byCpus() ? 'cpus' : line?.row >= 0 || rowTable()[row]?.kind === 0 ? 'ids' : 'threads';
	for (let k = chunkOf(max(0, event)); k >= 0 && k < index.nChunks; k += direction) {
		const chunk = await chunkLater(k), { start, order } = chunk.list(what);
		const mine = row >= 0 ? order.slice(start[row], start[row + 1]) : Uint32Array.from({ length: chunk.n }, (_, i) => i);
		for (const e of direction > 0 ? mine : mine.reverse()) {
			const is = direction * (chunk.first + e - event) > 0 ? wanted(chunk, e) : false;
			if (is === null)
				return false;
			if (!is)
				continue;
			selectEvent(chunk, e, true);
			view.selected.line = line ?? view.selected.line;
			return true;
		}
	}
	return false;
}

function selectNeighbour(direction) {
	const { selected } = view;
	if (selected?.event >= 0)
		selectOn(selected.line, selected.event, direction);
}

const kindAt = (chunk, e) => chunk.siteOf(e).kind;

/* The bar, else event, before or after the selected one on the row that one is on; without one, the first in sight. */
async function barStep(direction) {
	const line = lineNow() ?? view.selected?.line ?? view.lines.find((other) => !isHeading(other)), { selected } = view;
	const here = selected?.line?.key === line?.key ? selected : null, bar = here?.bar, bars = !byCpus() && line?.row >= 0, from = here?.event ?? -1;
	if (!line || isHeading(line))
		return;
	view.current = line.key;
	await selectOn(line, from >= 0 ? from : (index.chunks[chunkAt(view.from)]?.firstEvent ?? 0) - 1, from >= 0 ? direction : 1, (chunk, e) =>
		(from >= 0 || chunk.time[e] >= view.from) && (!bars || [KIND_STATE, KIND_COUNTER].includes(kindAt(chunk, e)) ||
		(kindAt(chunk, e) === KIND_START && (!bar || chunk.lane[e] === bar.lane + 1))));
	tellRow();
}

/* Down to the first scope in the selected one, up to the one around it; else to the row below or above. */
async function rowStep(direction) {
	const at = view.lines.indexOf(lineNow()), bar = view.selected?.bar;
	if (bar?.what === 'scope' && bar.event >= 0 && view.selected.line?.key === view.current &&
	    await selectOn(view.selected.line, bar.event, direction, (chunk, e) => chunk.lane[e] === bar.lane + 1 + direction && kindAt(chunk, e) === KIND_START ||
		(direction > 0 && chunk.lane[e] <= bar.lane + 1 ? null : false)))
		return tellRow();
	view.current = view.lines[max(0, min(at + direction, view.lines.length - 1))]?.key;
	lineIntoSight(lineNow());
	tellRow();
	return show();
}

/* For who has the page read aloud: where the keys have gone to. */
function tellRow() {
	const line = lineNow(), { selected } = view;
	put('live', !line ? '' : selected?.line === line ? line.text + ', ' + (selected.bar ? barText(selected.bar) : part('panel').innerText) : line.text +
		(line.remark ? ', ' + line.remark : ''));
}

function sayTime(say, name, time, more = '') {
	say(name, when(time) + more);
	if (wallClock(time))
		say('', wallClock(time));
}

function wallClock(time) {
	if (!index.utc)
		return '';
	const ns = BigInt(index.begin) + BigInt(round(time + index.from)) + BigInt(index.utc);
	const date = new Date(Number(ns / 1000000n)).toISOString();
	return date.slice(0, 19).replace('T', ' ') + '.' + String(ns % 1000000000n).padStart(9, '0') + ' UTC';
}

/* A table of the panel, with say(name, text, more nodes) for its lines. */
function panelTable() {
	const table = element('table', '');
	return { table, say: (name, text, ...more) => table.append(element('tr', '', element('td', '', name),
		element('td', 'value', text, ...more))) };
}

/* Where in the source, and by whom. */
function sayWhere(say, chunk, e) {
	const site = chunk.siteOf(e), track = chunk.trackOf(e);
	say('where', site.file + ':' + site.line);
	say('function', site.func);
	say('class', site.class);
	say('thread', threadName(track));
	say('process', track.program + ' (' + track.pid + ')');
	say('CPU', track.cpu + (track.keep ? ', keep ring' : ''));
}

/* Arguments by name, each with a button that follows its value through the trace. */
function argumentsOf(chunk, e) {
	const site = chunk.siteOf(e), { table, say } = panelTable();
	table.className = 'arguments';
	site.args.forEach((arg, i) => {
		/* The key of a scope is an address on its stack. */
		if (site.scope >= 0 && i === site.valueArg)
			return;
		const text = chunk.valueText(e, i), plain = arg.type === 'p' ? '0x' + chunk.value(e, i).toString(16) :
			arg.type === 's' ? chunk.value(e, i, false, '(null)') : text;
		const buttons = stepsOf('follows'), [follow, flows] = buttons.children, pressed = () => flows.ariaPressed = flow.name === arg.name;
		follow.onclick = () => searchFor(arg.name + '=' + plain, true);
		flows.onclick = () => {
			flowSet(arg.name);
			pressed();
		};
		pressed();
		say(arg.name, text + ' ', buttons);
	});
	return table.children.length ? [element('h3', '', 'arguments'), table] : [];
}

/* Buttons that stand for keys, as the page's own text has them. */
const stepsOf = (id) => part(id).content.cloneNode(true);

function panelFill(title, ...nodes) {
	part('panel').replaceChildren(element('h2', '', title), ...nodes, stepsOf('steps'));
	part('panel').hidden = false;
}

function panelShow(chunk, e) {
	const site = chunk.siteOf(e), track = chunk.trackOf(e), { table, say } = panelTable();
	detailStop();
	say('message', saidOf(chunk, e));
	sayTime(say, 'time', chunk.time[e], track.approx ? ' (approximate)' : '');
	sayWhere(say, chunk, e);
	panelFill(site.name, table, ...argumentsOf(chunk, e));
}

function panelClose() {
	detailStop();
	view.selected = null;
	part('panel').replaceChildren();
	part('panel').hidden = true;
	changed();
}

function legendShow() {
	const { legends } = index.views[view.by], names = labelsNow(), said = (...what) => element('span', '', ...what);
	const chip = (label) => element('i', { style: 'background: #' + shown(colourOf(label)).toString(16).padStart(6, '0') });
	part('legend').replaceChildren(...legends.flatMap(({ group, labels, more }) => [element('b', '', group),
		...labels.map((label) => said(chip(label), names[label])), ...more ? [said('and ' + more + ' smaller ones')] : []]),
	...legends.length ? [said(words('heights'))] : [],
	...index.losses.length ? [said(element('i', 'gap'), 'events were lost')] : []);
}

/* Numbers beside the search field and for the time in sight. */
function outputsShow() {
	const place = searchPlace(), { done, how, match, share, total } = search, range = measured();
	put('hits', !match ? '' : (place ? place + ' of ' : '') + grouped(total) + (done ? '' : '+') + (total === 1 && done ? ' hit' : ' hits') +
		(share < 1 ? ' (' + round(100 * share) + ' %)' : '') + how);
	put('range', (range ? 'measured ' + duration(range[1] - range[0]) + ' · ' : '') + duration(spanNow()) + ' in sight');
	for (const button of part('by').children)
		button.ariaPressed = button.dataset.by === view.by;
}
