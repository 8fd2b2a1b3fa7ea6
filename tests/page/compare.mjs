// SPDX-License-Identifier: BSD-2-Clause
// Two traces on one page: of two builds of tests/page/builds.c, one slower in one function. What the page says of both is what
// `ktr report --functions` says of each, and what the programs said themselves; they are aligned at an event, whose times
// `ktr json` tells, by mouse and by keys, move together, and have the numbers of one range. And of two that have nothing in common.
//
//	node compare.mjs KTR PAGE OLD-TOLD NEW-TOLD UNLIKE-PAGE SAME-PAGE SCREENSHOTS
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { check, failed, openPage, start } from './browser.mjs';

const [ktr, file, toldA, toldB, unlike, same, shots] = process.argv.slice(2);
const traces = { A: 'old.trace', B: 'new.trace' };
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
const report = (side, ...more) => new Map(JSON.parse(execFileSync(ktr, ['report', '--functions', '--json', '--top=0', ...more, traces[side]],
	{ encoding: 'utf8', maxBuffer: 1 << 28 })).functions.filter((f) => f.calls).map((f) => [f.name, f]));
const events = (side) => execFileSync(ktr, ['json', '--events', traces[side]], { encoding: 'utf8', maxBuffer: 1 << 28 }).trimEnd().split('\n')
	.map((line) => JSON.parse(line));
/* {name: [calls, ns]} as a program said. */
const told = (name) => Object.fromEntries(readFileSync(name, 'utf8').trim().split('\n').map((line) => line.split(' ')).map(([fn, n, ns]) => [fn, [Number(n), Number(ns)]]));

const written = (page, ns) => ns === undefined ? '-' : page.evaluate((n) => duration(Math.round(n)), ns);
const headline = (page) => page.textContent('#headline');
/* A table of the drawer: lines by their first cell, cells by the heads. */
const table = (page) => page.evaluate(() => {
	const [head, ...rows] = [...document.querySelectorAll('#drawer tr')].map((row) => [...row.cells].map((c) => c.textContent.replace(/ [▾▴]$/, '')));
	return Object.fromEntries(rows.map((row) => [row[0], Object.fromEntries(row.map((text, i) => [head[i], text]))]));
});

/* What stands in the table of names is what ktr report says of both, in the window of each. */
async function names(page, what, windows = { A: [], B: [] }) {
	const lines = await table(page), want = { A: report('A', ...windows.A), B: report('B', ...windows.B) };
	for (const side of ['A', 'B'])
		for (const [name, f] of want[side])
			for (const [head, text] of [['count', grouped(f.calls)], ['self', await written(page, f.self_ns)], ['mean', await written(page, f.mean_ns)],
				['p99', await written(page, f.p99_ns)], ['max', await written(page, f.max_ns)]])
				check(`${what}: ${head} of ${name} in ${side}`, lines[name]?.[head + ' ' + side] === text, [lines[name], text]);
	check(what + ': no others', Object.keys(lines).length === new Set([...want.A.keys(), ...want.B.keys()]).size && want.A.size > 0, Object.keys(lines));
	return lines;
}

/* Where a moment of a side's trace is on its first row of scopes, at a level. */
const place = (page, side, ns, level) => page.evaluate(([side, ns, level]) => {
	const { ktr, window } = compare.sides[side], frame = document.getElementById('frame' + side).getBoundingClientRect();
	ktr.draw();
	const box = window.document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.row >= 0 && ktr.index.rows[l.row].kind === 3);
	return { x: frame.left + box.left + 290 + (ns - ktr.index.from - ktr.view.from) / (ktr.view.to - ktr.view.from) * (box.width - 290),
		y: frame.top + box.top + 26 + line.y - ktr.view.top + 2 + 16 * level + 8 };
}, [side, ns, level]);

/* In sight of each, since its trace began. */
const sights = (page) => page.evaluate(() => Object.fromEntries(Object.entries(compare.sides).map(([name, { ktr }]) =>
	[name, [ktr.view.from + ktr.index.from, ktr.view.to + ktr.index.from]])));

async function apart(page, what, shift) {
	await page.waitForFunction((ns) => {
		const [a, b] = ['A', 'B'].map((name) => compare.sides[name].ktr).map(({ view, index }) => [view.from + index.from, view.to + index.from]);
		return Math.abs(b[0] - a[0] - ns) < 1 && Math.abs(b[1] - a[1] - ns) < 1;
	}, shift).catch(async () => check(what, false, [await sights(page), shift]));
}

async function opening(page) {
	const lines = await names(page, 'names'), said = { A: told(toldA), B: told(toldB) };
	check('the headline', /^B took .* A .*: \+\d+.* %\. Most of it: parse, \+[\d.]+ ms by itself, 600 times .* for 600 times /.test(await headline(page)), await headline(page));
	for (const side of ['A', 'B'])
		for (const [name, [calls, ns]] of Object.entries(said[side])) {
			const own = report(side).get(name).self_ns;
			check(`the program said so of ${name} in ${side}`, lines[name]['count ' + side] === String(calls) && own > ns * 0.95 && own < ns * 1.2 + 2e7, [own, ns]);
		}
	check('the first line', Object.keys(lines)[0] === 'parse', lines);
	await page.screenshot({ path: shots + '/compare.png' });
	await page.click('#drawer th:has-text("name") button');
	check('sorted by name', Object.keys(await table(page)).join() === 'find,parse,serve', Object.keys(await table(page)));
}

/* A click on a line: durations of a kind on both sides, and what differs. */
async function kind(page) {
	await page.click('#drawer tbody tr:has-text("parse")');
	await page.waitForFunction(() => document.querySelectorAll('#drawer svg rect').length === 30);
	const lines = await table(page);
	for (const side of ['A', 'B']) {
		const f = report(side).get('parse');
		for (const [head, ns] of [['mean', f.mean_ns], ['p50', f.p50_ns], ['p99', f.p99_ns], ['longest', f.max_ns]])
			check(`${head} of the kind in ${side}`, lines[side][head] === await written(page, ns), [lines[side], ns]);
	}
	check('the difference', /^\+[\d.]+ (µs|ms) \(\+\d/.test(lines['B − A'].p50), lines['B − A']);
	const shares = await page.evaluate(() => [...document.querySelectorAll('#drawer svg rect title')].map((t) => /: A ([\d.]+) %, B ([\d.]+) %/.exec(t.textContent).slice(1).map(Number)));
	const sums = [0, 1].map((i) => shares.reduce((sum, s) => sum + s[i], 0));
	check('each histogram is of all', sums.every((sum) => Math.abs(sum - 100) < 2), sums);
	/* Most calls of A took 120 us, most of B 220 us: these are different bars, one of which goes down and one up. */
	const most = [0, 1].map((i) => shares.reduce((best, s, k) => s[i] > shares[best][i] ? k : best, 0));
	const ways = await page.evaluate((which) => which.map((k) => document.querySelectorAll('#drawer svg rect')[k].getAttribute('class')), most);
	check('where they differ', most[0] < most[1] && ways.join() === 'A,B', [most, ways, shares]);
	await page.screenshot({ path: shots + '/compare-kind.png' });
	await page.click('#drawer button:has-text("names")');
}

/* Begin of the n-th parse of a side, since its trace began. */
function parses(side) {
	const all = events(side), first = BigInt(all[0].ts_ns);
	return all.filter(({ kind, func }) => kind === 'start' && func === 'parse').map(({ ts_ns: at }) => Number(BigInt(at) - first));
}

async function aligning(page) {
	const [a, b] = [parses('A'), parses('B')], shift = b[0] - a[20];
	/* Around the 21st parse of A; a click selects it, and the key aligns it with the first one of B. */
	await page.evaluate((at) => {
		const { A } = compare.sides;
		compare.state.leader = A;
		A.ktr.look(at - A.ktr.index.from - 4e5, at - A.ktr.index.from + 6e5);
	}, a[20]);
	for (const side of ['A', 'B'])
		await page.evaluate((name) => compare.sides[name].window.panelClose(), side);
	const at = await place(page, 'A', a[20] + 3e4, 1);
	await page.mouse.click(at.x, at.y);
	await page.waitForFunction(() => compare.sides.A.ktr.view.selected?.bar);
	await page.keyboard.press('=');
	await page.waitForFunction((ns) => compare.state.shift === ns, shift).catch(async () =>
		check('aligned at a selected event', false, [await page.evaluate(() => compare.state.shift), shift]));
	await apart(page, 'they lie above each other', shift);
	check('it says how far', /^what is in A at a moment lies above B [\d.]+ m?s earlier$/.test(await page.textContent('#aligned')), await page.textContent('#aligned'));
	await page.screenshot({ path: shots + '/compare-aligned.png' });
	/* What is used leads: by the wheel above, by keys below. */
	await page.mouse.move(at.x, at.y);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, 300);
	await page.keyboard.up('Control');
	await page.waitForFunction(() => compare.sides.A.ktr.view.to - compare.sides.A.ktr.view.from > 1.2e6);
	await apart(page, 'B follows A', shift);
	const below = await place(page, 'B', b[0] + 3e4, 0), before = (await sights(page)).A[0];
	await page.mouse.click(below.x, below.y);
	await page.keyboard.down('d');
	await page.waitForFunction((from) => compare.sides.A.ktr.view.from + compare.sides.A.ktr.index.from > from, before);
	await page.keyboard.up('d');
	await apart(page, 'A follows B', shift);
	/* With something selected on both sides the button aligns just these. */
	for (const [side, ns] of [['A', a[3]], ['B', b[7]]])
		await page.evaluate(async ([name, at]) => {
			const { ktr } = compare.sides[name], chunk = await ktr.chunkLater(0);
			await ktr.selectNumber([...chunk.time].findIndex((time, e) => time + ktr.index.from === at && ktr.index.sites[chunk.site[e]].func === 'parse'));
		}, [side, ns]);
	await page.click('#align');
	await apart(page, 'aligned at two', b[7] - a[3]);
	await page.locator('#frameA').focus();
	await page.keyboard.press('0');
	await apart(page, 'aligned at the beginnings', 0);
}

/* A range that is dragged in A is B's as well. */
async function ranging(page) {
	await page.evaluate(() => {
		const { A } = compare.sides;
		A.ktr.look(0, A.ktr.index.span);
		for (const { window } of Object.values(compare.sides))
			window.panelClose();
		document.querySelector('#drawer button').click();
	});
	const [from, to] = await page.evaluate(() => [0.2, 0.7].map((share) => share * compare.sides.A.ktr.index.span + compare.sides.A.ktr.index.from));
	const [x, y] = [await place(page, 'A', from, 0), await place(page, 'A', to, 0)];
	await page.mouse.move(x.x, x.y);
	await page.mouse.down();
	await page.mouse.move(y.x, y.y, { steps: 4 });
	await page.mouse.up();
	await page.waitForFunction(() => compare.state.range && /^In the range/.test(document.getElementById('headline').textContent));
	/* The table comes after the words. */
	await page.waitForFunction(() => /parse/.test(document.querySelector('#drawer tbody')?.textContent)).catch(() => {});
	const range = await page.evaluate(() => compare.state.range), window = range.map((ns, i) => `--${['from', 'to'][i]}=${Math.round(ns)}ns`);
	await names(page, 'range', { A: window, B: window });
	await page.screenshot({ path: shots + '/compare-range.png' });
}

/* What is on the screen is in the address: another page that is opened there has it, and back goes to what was chosen before. */
async function linking(browser, page) {
	const all = (page) => page.evaluate(() => [compare.state.shift, compare.state.range, ...['A', 'B'].flatMap((name) => {
		const { view, index } = compare.sides[name].ktr;
		return [view.from + index.from, view.to + index.from, view.selected?.event ?? -1].map(Math.round);
	})]);
	const settled = (page) => page.waitForFunction(() => compare.sides.A && location.hash === linkText());
	await settled(page);
	const [before, shift] = [await all(page), parses('B')[9] - parses('A')[2]];
	for (const [side, n] of [['A', 2], ['B', 9]])
		await page.evaluate(async ([name, at]) => {
			const { ktr } = compare.sides[name], chunk = await ktr.chunkLater(0);
			await ktr.selectNumber([...chunk.time].findIndex((time, e) => time + ktr.index.from === at && ktr.index.sites[chunk.site[e]].func === 'parse'));
		}, [side, parses(side)[n]]);
	await page.click('#align');
	await apart(page, 'aligned for the link', shift);
	await settled(page);
	const other = await openPage(browser, file, new URL(page.url()).hash), want = await all(page);
	await other.setViewportSize({ width: 1400, height: 1000 });
	await other.evaluate(() => compare.ready);
	await other.waitForFunction((n) => compare.state.shift === n && compare.sides.B.ktr.view.selected, shift);
	/* Ends of a range are between two nanoseconds. */
	const [there, here] = [await all(other), want].map((of) => of.flat());
	check('a link has it all', there.length === here.length && here.length === 9 && here.every((n, i) => Math.abs(n - there[i]) <= 1) &&
		want[4] >= 0 && want[7] >= 0, [there, here]);
	await other.close();
	await page.goBack();
	await page.waitForFunction((n) => compare.state.shift !== n, shift);
	check('back', (await all(page))[0] === before[0], [await all(page), before]);
}

/* A name has one colour. */
async function colours(page) {
	const [a, b] = await page.evaluate(() => ['A', 'B'].map((name) => compare.sides[name].ktr.index).map(({ labels, colours }) => labels.map((label, i) => [label, colours[i]])));
	const of = new Map(a), shared = b.filter(([label]) => label && of.has(label));
	check('colours of names that both have', shared.every(([label, colour]) => of.get(label) === colour), [a, b]);
	return shared.length;
}

const browser = await start();
const page = await openPage(browser, file);
await page.setViewportSize({ width: 1400, height: 1000 });
await page.evaluate(() => compare.ready);
await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
await opening(page);
await colours(page);
await kind(page);
await aligning(page);
await ranging(page);
await linking(browser, page);
await page.close();
const other = await openPage(browser, unlike);
await other.evaluate(() => compare.ready);
await other.waitForFunction(() => document.querySelector('#drawer tbody tr'));
const lines = await table(other);
check('what only one has', lines.read_all?.['count A'] === '0' !== (lines.read_all?.['count B'] === '0'), lines);
await other.click('#drawer tbody tr:has-text("read_all")');
await other.waitForFunction(() => document.querySelector('#drawer svg'));
await other.close();
const large = await openPage(browser, same);
await large.evaluate(() => compare.ready);
await large.waitForFunction(() => document.querySelector('#drawer tbody tr'));
check('names that both have', await colours(large) > 0);
check('the same trace', /^Both took/.test(await headline(large)), await headline(large));
/* A large element comes in pieces while the page is read: it is all there when the next one is. */
const pieces = await large.evaluate(async () => {
	const part = document.body.appendChild(document.createElement('script'));
	Object.assign(part, { type: 'application/x-ktr', id: 'pieces', textContent: btoa('one...') });
	Object.defineProperty(document, 'readyState', { value: 'loading', configurable: true });
	const bytes = blobOf('pieces');
	await new Promise((resolve) => setTimeout(resolve, 100));
	part.append(btoa('two'));
	document.body.append(document.createElement('p'));
	delete document.readyState;
	return new TextDecoder().decode(await bytes);
});
check('a part that comes in pieces', pieces === 'one...two', pieces);
await browser.close();
process.exit(failed() ? 1 : 0);
