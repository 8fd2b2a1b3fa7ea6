/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is around the plot. Text of a trace gets here as text of nodes, never as HTML.
 */
'use strict';

const part = (id) => document.getElementById(id);

function element(name, properties, ...children) {
	const node = document.createElement(name);
	Object.assign(node, properties);
	node.append(...children);
	return node;
}

/* The line that an event is best seen on. */
function lineOfEvent(chunk, e) {
	const row = view.by === 'ids' ? chunk.list('ids').row[e] : -1;
	if (view.by === 'cpus')
		return view.lines.find((line) => line.row === chunk.list('cpus').row[e]) ?? null;
	const thread = chunk.list('threads').row[e], id = chunk.list('ids').row[e];
	return view.lines.find((line) => line.row === (row >= 0 ? row : id) && line.row >= 0) ??
		view.lines.find((line) => line.marks === thread) ?? null;
}

function selectEvent(chunk, e, moveThere) {
	const time = chunk.time[e], line = lineOfEvent(chunk, e);
	view.selected = { event: chunk.first + e, time, line };
	if (moveThere && (time < view.from || time > view.to)) {
		const span = view.to - view.from;
		look(time - span / 2, time + span / 2);
	}
	if (moveThere && line) {
		const visible = picture.height / picture.ratio - RULER;
		if (line.y < view.top || line.y + line.height > view.top + visible)
			view.top = line.y - visible / 2;
	}
	panelShow(chunk, e);
	show();
}

async function selectNumber(event) {
	const chunk = await chunkLater(chunkOf(event));
	selectEvent(chunk, event - chunk.first, true);
}

/* The event before or after the selected one on the same line. */
async function selectNeighbour(direction) {
	const { selected } = view;
	if (!selected)
		return;
	const thread = !selected.line || selected.line.row < 0;
	const what = view.by === 'cpus' ? 'cpus' : thread ? 'threads' : 'ids';
	const row = !selected.line ? -1 : thread ? selected.line.marks : selected.line.row;
	for (let k = chunkOf(selected.event); k >= 0 && k < index.chunks.length; k += direction) {
		const chunk = await chunkLater(k);
		const { start, order } = chunk.list(what);
		const mine = row >= 0 ? order.subarray(start[row], start[row + 1]) : Uint32Array.from({ length: chunk.n }, (_, i) => i);
		const wanted = (e) => direction > 0 ? chunk.first + e > selected.event : chunk.first + e < selected.event;
		const found = direction > 0 ? mine.find(wanted) : mine.findLast(wanted);
		if (found !== undefined) {
			selectEvent(chunk, found, true);
			return;
		}
	}
}

function wallClock(time) {
	if (!index.utc)
		return '';
	const ns = BigInt(index.begin) + BigInt(Math.round(time + index.from)) + BigInt(index.utc);
	const date = new Date(Number(ns / 1000000n)).toISOString();
	return date.slice(0, 19).replace('T', ' ') + '.' + String(ns % 1000000000n).padStart(9, '0') + ' UTC';
}

function panelShow(chunk, e) {
	const site = index.sites[chunk.site[e]], track = index.tracks[chunk.track[e]], values = chunk.args(e);
	const table = element('table', {});
	const say = (name, text, ...more) => table.append(element('tr', {}, element('td', { textContent: name }),
		element('td', { className: 'value', textContent: text }, ...more)));
	say('message', messageOf(site, values, track.pid));
	say('time', moment(chunk.time[e] + index.from, 1) + (track.approx ? ' (approximate)' : ''));
	if (wallClock(chunk.time[e]))
		say('', wallClock(chunk.time[e]));
	say('where', site.file + ':' + site.line);
	say('function', site.func);
	say('class', site.class);
	say('thread', track.name + ' (' + track.tid + ')');
	say('process', track.program + ' (' + track.pid + ')');
	say('CPU', track.cpu + (track.keep ? ', keep ring' : ''));
	site.args.forEach((arg, i) => {
		const text = valueText(arg, values[i], track.pid), plain = arg.type === 'p' ? '0x' + values[i].toString(16) : text;
		const follow = element('button', { textContent: 'follow', title: 'every event with this value' });
		follow.onclick = () => {
			part('search').value = arg.name + '=' + plain;
			searchStart(part('search').value, true);
		};
		say(arg.name, text + ' ', follow);
	});
	const steps = element('div', { className: 'steps' });
	const button = (text, title, what) => steps.append(element('button', { textContent: text, title, onclick: what }));
	button('◂ event', 'the one before on this row ([)', () => selectNeighbour(-1));
	button('event ▸', 'the next one on this row (])', () => selectNeighbour(1));
	button('centre', 'bring it into the middle (c)', centre);
	button('close', 'esc', panelClose);
	part('panel').replaceChildren(element('h2', { textContent: site.name }), table, steps);
	part('panel').hidden = false;
}

function panelClose() {
	view.selected = null;
	part('panel').hidden = true;
	show();
}

function legendShow() {
	const node = part('legend'), v = index.views[view.by];
	const names = view.by === 'cpus' ? index.threads : index.labels;
	node.replaceChildren();
	for (const legend of v.legends) {
		node.append(element('b', { textContent: legend.group }));
		for (const label of legend.labels) {
			const chip = element('i', {});
			chip.style.background = '#' + shown(colourOf(label)).toString(16).padStart(6, '0');
			node.append(element('span', {}, chip, names[label]));
		}
		if (legend.more)
			node.append(element('span', { textContent: 'and ' + legend.more + ' smaller ones' }));
	}
	if (v.legends.length)
		node.append(element('span', { textContent: 'heights: shares of the time; what is short has two pixels' }));
	if (index.losses.length)
		node.append(element('span', {}, element('i', { className: 'gap' }), 'events were lost'));
}

const keys = [
	['w  s', 'zoom in, out, around the pointer'],
	['a  d  ← →', 'move in time'],
	['↑ ↓', 'scroll'],
	['f', 'everything'],
	['/', 'search: text, or name=value'],
	['n  N', 'next hit, the one before'],
	['[  ]', 'event before, after, on the same row'],
	['c', 'bring what is selected into the middle'],
	['m', 'measure from here; again: to here'],
	['z', 'zoom to what is measured'],
	['names', 'their right edge can be dragged'],
	['1 2 3', 'rows: ids, threads, CPUs'],
	['t', 'light, dark'],
	['esc', 'give up search, selection, measure'],
	['wheel', 'zoom; scrolls where rows do not fit, with ctrl zoom'],
	['drag', 'move; with shift, or on the ruler, measure'],
	['click', 'the event: place, arguments, thread'],
	['double click', 'zoom to the bar'],
];

function keysShow() {
	const table = element('table', {}, ...keys.map(([key, what]) =>
		element('tr', {}, element('td', { textContent: key }), element('td', { textContent: what }))));
	part('keys').replaceChildren(table);
	part('keys').showModal();
}

/* Numbers beside the search field and for the time in sight. */
function outputsShow() {
	const place = searchPlace(), { measure } = view;
	const done = Object.keys(search.counts).length >= index.chunks.length;
	part('hits').textContent = !search.match ? '' :
		(place ? place + ' of ' : '') + grouped(search.total) + (done ? '' : '+') + (search.total === 1 && done ? ' hit' : ' hits');
	part('range').textContent = (measure ? 'measured ' + duration(Math.abs(measure.b - measure.a)) + ' · ' : '') +
		duration(view.to - view.from) + ' in sight';
	for (const button of part('by').children)
		button.setAttribute('aria-pressed', String(button.dataset.by === view.by));
}
