/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows: arrows from an event to the next one that has the same value of an argument, where another thread has it: who hands
 * a request on, who gave back the lock that another one then had. Those of KTR_FLOW, whose argument is called flow, are there
 * from the beginning; they go from an event of a name to one of the same name.
 */

const FLOWS = 3000;	/* arrows of a frame */
const flow = { name: '' };
const flowFirst = () => index.sites.some(({ args }) => args[0]?.name === 'flow') ? 'flow' : '';

function flowSet(name) {
	flow.name = name === flow.name ? '' : name;
	changed();
}

/* Events of a part that have the argument: [index in it, value, how many scopes it is in]; kept with the part. The key of a scope is none. */
const flowEvents = (chunk) => chunk.flow?.name === flow.name ? chunk.flow.events : once(() => flowFind(chunk)) ?? [];

function flowFind(chunk) {
	const at = index.sites.map((site) => site.args.findIndex((arg, i) => arg.name === flow.name && !(site.scope >= 0 && i === site.valueArg)));
	const events = [], deep = [];
	chunk.site.forEach((s, e) => {
		const { scope, kind, format } = index.sites[s], { nest } = chunk.trackOf(e);
		if (scope >= 0 && chunk.lane[e])
			deep[nest] = chunk.lane[e] - (kind === KIND_STOP ? 1 : 0);
		if (at[s] >= 0)
			events.push([e, (flow.name === 'flow' ? format : '') + chunk.valueText(e, at[s]),
				deep[nest] ?? (nest < 0 ? 0 : stateBefore(nest, chunk.number).spans.length)]);
	});
	chunk.flow = { name: flow.name, events };
	return events;
}

/* Where an event is drawn: on its own row, in the middle of its bar, else of the scope that it is in, else on its thread's; null: on none. */
function eventPlace(chunk, e, lineOf, deep) {
	const cpus = byCpus(), lane = (chunk.lane[e] || deep) - 1;
	const line = lineOf.get(chunk.list(cpus ? 'cpus' : 'ids').row[e]) ?? (cpus ? null : lineOf.get(chunk.trackOf(e).nest) ?? lineOf.get(chunk.list('threads').row[e]));
	const [y0, y1] = !line ? [] : lane >= 0 && line.row >= 0 && !cpus ? barPlace(line, { what: 'span', row: line.row, lane }) : [0, line.height];
	return line ? { x: xOf(chunk.time[e]), y: yOf(line) + (y0 + y1) / 2 } : null;
}

/* By row: the line that shows it. */
function linesByRow(lines) {
	const lineOf = new Map();
	for (const line of lines)
		for (const row of [line.row, line.marks])
			if (row >= 0 && !lineOf.has(row))
				lineOf.set(row, line);
	return lineOf;
}

function drawFlows(sight) {
	const last = new Map(), lineOf = linesByRow(view.lines), of = view.selected?.event, own = chunkWith(of);
	let drawn = 0;
	if (!flow.name)
		return;
	const mine = own && flowEvents(own).find(([e]) => own.first + e === of)?.[1];
	for (const { chunk } of sight.detail ? partsOf('threads', 0, sight) : [])
		for (const [e, value, deep] of flowEvents(chunk)) {
			const { tid } = chunk.trackOf(e), here = { tid, place: eventPlace(chunk, e, lineOf, deep) }, before = last.get(value);
			last.set(value, here);
			const [a, b] = [before?.place, here.place];
			if (!a || !b || before.tid === tid || b.x < GUTTER || a.x > plotRight() || ++drawn > FLOWS)
				continue;
			const from = a.x < GUTTER ? { x: GUTTER, y: a.y + (b.y - a.y) * (GUTTER - a.x) / (b.x - a.x) } : a;
			/* Seen on bars, too. */
			for (const [colour, wider] of [[theme.ground, 3], [theme.ink, 0]]) {
				pen.fillStyle = pen.strokeStyle = colour;
				pen.lineWidth = (value === mine ? 2.5 : 1) + wider;
				drawArrow(from, b);
			}
		}
	pen.lineWidth = 1;
	if (!sight.detail || drawn > FLOWS)
		write('zoom in for all flows', GUTTER + 20, RULER + 10, theme.mark);
}
