/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The panel of a bar: when, how long, what is around and in it, and where it stands among its kind. What needs a look at
 * many parts of the page comes from the worker and is filled in when it is there.
 */

const detail = { run: 0, asked: null, kind: null, wish: null, went: -1 };	/* kind: the worker's answer; wish: a key that waits for it; went: where l led */

function detailStop() {
	detail.run++;
	detail.asked?.stop();
	Object.assign(detail, { asked: null, kind: null, wish: null });
}

/* An answer about the bar that is told of, with how far it has come in a node meanwhile; null if another bar is by then. */
async function detailAsk(name, question, node) {
	const { run } = detail;
	detail.asked = ask(name, question, ({ share }) => node && run === detail.run && (node.textContent = round(100 * share) + ' %'));
	const answer = await detail.asked;
	return run === detail.run ? answer : null;
}

const barName = (bar) => bar.what === 'state' ? index.rows[bar.row].ident + ': ' + index.labels[bar.label] : kindName(kindOf(bar));


const goButton = (text, title, event) => button(text, title, () => selectNumber(event), { disabled: !(event >= 0) });


/* How often its kind took how long; its own bar is marked. */
function histogramOf({ low, high, count }, took) {
	const wide = 320, tall = 54, step = wide / count.length, most = max(...count);
	const mine = barAt(took, low, high);
	const bars = count.map((n, i) => {
		const height = n ? max(2, n / most * (tall - 4)) : 0;
		const bar = svg('rect', { x: i * step, y: tall - height, width: step - 1, height, class: i === mine ? 'mine' : 'other' });
		const at = (k) => duration(round(low * (high / low) ** (k / count.length)));
		bar.append(svg('title', '', grouped(n) + ' from ' + at(i) + ' to ' + at(i + 1)));
		return bar;
	});
	const axis = element('div', 'axis', element('span', '', duration(low)), element('span', '', duration(high)));
	return element('div', 'histogram', svg('svg', { viewBox: `0 0 ${wide} ${tall}`, role: 'img',
		'aria-label': 'how many took how long, from ' + duration(low) + ' to ' + duration(high) }, ...bars), axis);
}

function kindShow(node, bar, took, answer) {
	if (!answer.n)
		return node.replaceChildren();
	const name = kindName(kindOf(bar)), place = answer.longer + 1;
	const of = isNaN(took) ? grouped(answer.n) + ' of ' + name : answer.n === 1 ? 'the only ' + name :
		(place === 1 ? 'the longest' : nth(place) + ' longest') + ' of ' + grouped(answer.n) + ' ' + name;
	const told = ['p50', 'p99', 'max', 'mean'].filter((what) => !isNaN(answer[what])).map((what) => what + ' ' + duration(answer[what]));
	node.replaceChildren(element('h3', '', 'among its kind'), element('p', 'rank', of),
		element('p', '', told.join(' · ')), histogramOf(answer.bars, took), stepsOf('kinds'));
}

function kindStep(direction) {
	const { kind } = detail, event = kind?.[direction < 0 ? 'before' : 'after'];
	if (!kind)
		detail.wish = () => kindStep(direction);
	if (event >= 0)
		selectNumber(event);
}

/* The longest; from there the one after it, and so on. */
function kindLongest() {
	const longest = detail.kind?.longest ?? [], event = view.selected?.bar?.event, at = longest.findIndex(([one]) => one === event);
	if (!detail.kind)
		detail.wish = kindLongest;
	if (longest.length)
		selectNumber(detail.went = longest[at && event !== detail.went ? 0 : (at + 1) % longest.length][0]);
}

function childrenShow(node, { children, n }) {
	if (!n)
		return;
	const line = (tag, ...cells) => element('tr', '', ...cells.map((cell) => element(tag, '', cell)));
	const table = element('table', 'children', line('th', 'children', 'count', 'total', 'longest'), ...children.slice(0, 12).map((child) =>
		line('td', goButton(index.labels[child.label], 'the longest of them', child.event), grouped(child.n), duration(child.total), duration(child.longest))),
	...children.length > 12 ? [line('td', 'and ' + (children.length - 12) + ' more names')] : []);
	node.replaceChildren(table);
}

/* The cells that are filled in later. */
function barTimes(bar, say) {
	const cells = {};
	sayTime(say, 'begin', bar.from);
	for (const name of ['end', 'duration', ...bar.what === 'scope' ? ['self', 'parent'] : []])
		say(name, '', cells[name] = element('span', '', '…'));
	return cells;
}

function wholeShow(cells, bar, whole) {
	const took = whole.to - bar.from;
	cells.end.textContent = whole.ended ? when(whole.to) + (whole.told ? '' : ' (left: no end was recorded)') :
		'not in this page';
	cells.duration.textContent = (whole.ended ? '' : 'at least ') + duration(took);
	if (!cells.self)
		return;
	cells.self.textContent = duration(whole.self) + (took > 0 ? ' (' + round(100 * whole.self / took) + ' %)' : '');
	cells.parent.replaceChildren(whole.parent ? goButton(index.labels[whole.parent.label], 'the scope around it', whole.parent.event) : 'none');
}

/* Who else was on its CPU, and the way through the threads that had the locks it waited for. */
function aroundShow(node, bar, thread, { ran, path }) {
	const took = bar.to - bar.from, others = ran.filter(([who, ns]) => who !== thread && ns > took / 1000).slice(0, 6);
	const { table, say } = panelTable();
	bar.path = path.length > 1 ? path : null;
	for (const { thread: who, from, to, lock } of bar.path ?? [])
		say(threadName(trackOfThread(who)), duration(to - from) + ' ', button(lock ? 'had ' + lock : 'itself', 'go there', () => lookAround((from + to) / 2)));
	node.replaceChildren(...others.length ? [element('h3', '', 'on its CPU meanwhile'), element('p', '', others.map(([who, ns]) =>
		threadName(trackOfThread(who)) + ' ' + percent(ns / took)).join(', '))] : [], ...bar.path ? [element('h3', '', 'critical path'), table] : []);
	show();
}

async function barShow(bar, chunk, e) {
	detailStop();
	const { table, say } = panelTable();
	const thread = bar.what === 'scope' ? index.tracks.find(({ nest }) => nest === bar.row)?.thread : chunk?.thread(e);
	const children = element('div', ''), kind = element('div', 'kind', '…'), around = element('div', 'around'), more = [];
	const cells = barTimes(bar, say);
	if (chunk) {
		say('message', saidOf(chunk, e));
		sayWhere(say, chunk, e);
		more.push(...argumentsOf(chunk, e));
	} else {
		say('', words('before'));
	}
	panelFill(barName(bar), table, children, around, ...more, kind);
	const whole = await detailAsk('whole', bar, cells.end);
	if (!whole)
		return;
	Object.assign(bar, { to: whole.to, ended: whole.ended });
	wholeShow(cells, bar, whole);
	childrenShow(children, whole);
	show();
	const took = whole.told ? whole.to - bar.from : NaN;
	const answer = await detailAsk('kind', { kind: kindOf(bar), took, event: bar.event }, kind);
	if (!answer)
		return;
	detail.kind = answer;
	kindShow(kind, bar, took, answer);
	detail.wish?.();
	const told = thread >= 0 && await detailAsk('around', { thread, from: bar.from, to: whole.to });
	if (told)
		aroundShow(around, bar, thread, told);
}
