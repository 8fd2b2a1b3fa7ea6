// SPDX-License-Identifier: BSD-2-Clause
// Draws the frames below the one that is zoomed to, each as a box of its own; text only ever gets in as text.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const nodes = data.nodes.map(([parent, name, self, total, before]) => ({ parent, name, self, total, before, children: [] }));
nodes.forEach((node, i) => node.parent >= 0 && nodes[node.parent].children.push(i));
const $ = id => document.getElementById(id);
const ROW = 18, NARROW = 0.4; // [pixels]
let top_ = 0, icicle = data.icicle, wanted = '';

function digits(number) {
	return number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2);
}

function number(value) {
	if (data.unit) {
		const whole = Math.round(value);
		return whole.toLocaleString('en') + ' ' + data.unit + (whole === 1 ? '' : 's');
	}
	if (value < 1000)
		return Math.round(value) + ' ns';
	for (const [unit, ns] of [['us', 1e3], ['ms', 1e6]])
		if (value < ns * 999.5)
			return digits(value / ns) + ' ' + unit;
	return digits(value / 1e9) + ' s';
}

const label = i => data.names[nodes[i].name];
const change = node => data.diff ? node.self - node.before : 0;
const percent = (part, all) => (100 * part / all).toFixed(2) + ' %';

function tell(i) {
	const node = nodes[i];
	let text = `${label(i)}: ${number(node.total)}, ${percent(node.total, nodes[0].total)} of all`;
	if (top_ !== 0)
		text += `, ${percent(node.total, nodes[top_].total)} of ${label(top_)}`;
	text += `; ${number(node.self)} its own`;
	if (data.diff)
		text += `, before ${number(node.before)}: ${change(node) < 0 ? '-' : '+'}${number(Math.abs(change(node)))}`;
	return text;
}

function colour(i) {
	const node = nodes[i], half = (data.colours.length - 1) / 2;
	const at = !data.diff ? node.name : half + (data.most > 0 ? Math.round(change(node) / data.most * half) : 0);
	return i === 0 && !data.diff ? '#dfdfdf' : '#' + data.colours[at].toString(16).padStart(6, '0');
}

// Black or white, whichever is legible on it: as ktr__palette_on() has it.
function ink(colour) {
	const part = at => parseInt(colour.slice(at, at + 2), 16);
	return (part(1) * 299 + part(3) * 587 + part(5) * 114) / 1000 > 150 ? '#000' : '#fff';
}

const isHit = i => wanted !== '' && label(i).toLowerCase().includes(wanted);

// [node, level, left, width] of what is drawn, left and width as shares.
function layout() {
	const boxes = [], around = [];
	for (let i = nodes[top_].parent; i >= 0; i = nodes[i].parent)
		around.unshift(i);
	around.forEach((i, level) => boxes.push([i, level, 0, 1]));
	const least = NARROW / Math.max(1, $('graph').clientWidth);
	const todo = [[top_, around.length, 0]];
	while (todo.length > 0) {
		const [i, level, left] = todo.pop(), width = nodes[i].total / nodes[top_].total;
		if (width < least)
			continue;
		boxes.push([i, level, left, width]);
		let at = left;
		for (const child of nodes[i].children) {
			todo.push([child, level + 1, at]);
			at += nodes[child].total / nodes[top_].total;
		}
	}
	return { boxes, n_around: around.length };
}

function draw() {
	const { boxes, n_around } = layout(), levels = 1 + boxes.reduce((most, box) => Math.max(most, box[1]), 0);
	$('graph').replaceChildren(...boxes.map(([i, level, left, width]) => {
		const box = document.createElement('div');
		box.dataset.node = i;
		box.style.left = 100 * left + '%';
		box.style.width = `max(1px, calc(${100 * width}% - 1px))`;
		box.style.top = ROW * (icicle ? level : levels - 1 - level) + 'px';
		box.style.background = colour(i);
		box.style.color = isHit(i) ? '#000' : ink(colour(i));
		if (width * $('graph').clientWidth >= 24)
			box.textContent = label(i);
		else
			box.style.padding = 0;
		box.classList.toggle('around', level < n_around);
		box.classList.toggle('hit', isHit(i));
		return box;
	}));
	$('graph').style.height = ROW * levels + 'px';
	const path = [];
	for (let i = top_; i > 0; i = nodes[i].parent)
		path.unshift(label(i));
	$('path').textContent = path.join(' \u203a ');
}

// What hits have together: a hit within another one is in that one's total.
function search() {
	wanted = $('search').value.toLowerCase();
	const within = [];
	let sum = 0, n = 0;
	nodes.forEach((node, i) => {
		const inside = node.parent >= 0 && within[node.parent];
		within[i] = inside || isHit(i);
		n += isHit(i);
		if (isHit(i) && !inside)
			sum += node.total;
	});
	$('hits').textContent = wanted === '' ? '' : `${n} frames: ${number(sum)}, ${percent(sum, nodes[0].total)}`;
	draw();
}

// To where the outermost frames are: what lies far from them is narrow.
function toFoot() {
	const main = document.querySelector('main');
	main.scrollTop = icicle ? 0 : main.scrollHeight;
}

function zoom(i) {
	top_ = i;
	draw();
	toFoot();
	$('tip').textContent = tell(i);
}

function legend() {
	if (!data.diff)
		return;
	data.colours.forEach(c => {
		const box = document.createElement('i');
		box.style.background = '#' + c.toString(16).padStart(6, '0');
		$('legend').append(box);
	});
	$('legend').append(` blue: up to ${number(data.most)} less for itself, red: more`);
}

function turn() {
	icicle = !icicle;
	draw();
	toFoot();
}

const nodeOf = event => event.target.dataset.node;
$('graph').addEventListener('click', event => nodeOf(event) !== undefined && zoom(Number(nodeOf(event))));
$('graph').addEventListener('mouseover', event => {
	if (nodeOf(event) !== undefined)
		$('tip').textContent = tell(Number(nodeOf(event)));
});
$('search').addEventListener('input', search);
$('fit').addEventListener('click', () => zoom(0));
$('turn').addEventListener('click', turn);
addEventListener('resize', draw);
addEventListener('keydown', event => {
	if (event.key === 'Escape') {
		$('search').value = '';
		search();
		zoom(0);
	} else if (document.activeElement !== $('search') && event.key === '/') {
		$('search').focus();
		event.preventDefault();
	} else if (document.activeElement !== $('search') && event.key === 'i') {
		turn();
	}
});
legend();
draw();
toFoot();
