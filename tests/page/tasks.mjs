// SPDX-License-Identifier: BSD-2-Clause
// Three questions, answered from the page alone as somebody would who sees it for the first time: by clicks, a key and what is
// read on the screen. Which request of examples/server was the slowest, and why? Who had the lock that worker 3 waited for
// (tests/page/workers.c)? Which of two builds is slower, and in what? Whether the answers are right is told by `ktr json` and
// by the programs themselves. Says how many inputs each took, and how long.
//
//	node tasks.mjs KTR SERVER-TRACE SERVER-PAGE WORKERS-PAGE WORKERS-TOLD BUILDS-PAGE SCREENSHOTS
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { check, failed, fields, light, openPage, start } from './browser.mjs';

const [ktr, trace, server, workers, told, builds, shots] = process.argv.slice(2);
let inputs = 0;

async function click(page, x, y) {
	inputs++;
	await page.mouse.click(x, y);
}

async function key(page, name) {
	inputs++;
	await page.keyboard.press(name);
}

async function timed(what, task) {
	const begin = Date.now();
	inputs = 0;
	const answer = await task();
	console.log(`${what} ${answer} (${inputs} inputs, ${((Date.now() - begin) / 1000).toFixed(1)} s)`);
}

async function opened(browser, file) {
	const page = await openPage(browser, file);
	await page.evaluate(() => (window.ktr ?? window.compare).ready);
	return page;
}

/* Somewhere on a bar, as it is seen: of the rows whose names begin so, a pixel that is coloured, and what stands beside the pointer there. */
async function findBar(page, row, wanted) {
	const lines = await page.evaluate((text) => {
		const box = document.getElementById('plot').getBoundingClientRect();
		return ktr.view.lines.filter((l) => l.row >= 0 && l.text.startsWith(text)).map((l) => ({ left: box.left + 290, width: box.width - 290, y: box.top + 26 + l.y - ktr.view.top + 10 }));
	}, row);
	for (const { left, width, y } of lines)
		for (let x = left + 2; x < left + width; x += 7) {
			await page.mouse.move(x, y);
			if (wanted.test(await page.textContent('#tip')))
				return { x, y };
		}
	return null;
}

/* A click on any request, l goes to the longest, and the panel has what it spent its time in; a click on that has the key. */
async function slowest(browser) {
	const all = execFileSync(ktr, ['json', '--events', trace], { encoding: 'utf8', maxBuffer: 1 << 28 }).trimEnd().split('\n').map((line) => JSON.parse(line));
	const calls = [], open = new Map();
	for (const event of all.filter(({ kind }) => kind === 'start' || kind === 'stop')) {
		const stack = open.get(event.tid) ?? [];
		open.set(event.tid, stack);
		if (event.kind === 'start')
			stack.push({ func: event.func, args: event.args, from: BigInt(event.ts_ns), within: stack.at(-1) });
		else
			calls.push(Object.assign(stack.pop(), { to: BigInt(event.ts_ns) }));
	}
	for (const call of calls)
		call.ns = Number(call.to - call.from);
	const requests = calls.filter(({ func }) => func === 'answer'), longest = requests.reduce((a, b) => b.ns > a.ns ? b : a), inner = calls.find(({ within }) => within === longest);
	const page = await opened(browser, server);
	const bar = await findBar(page, 'connection', /^request: /);
	await click(page, bar.x, bar.y);
	await page.waitForFunction(() => document.querySelector('#panel .rank'));
	if (!/^the longest/.test(await page.textContent('#panel .rank'))) {
		const before = await page.textContent('#panel td.value');
		await key(page, 'l');
		await page.waitForFunction((begin) => document.querySelector('#panel td.value').textContent !== begin && document.querySelector('#panel .rank'), before);
	}
	const panel = await fields(page);
	check('the slowest request', panel.title === 'request' && panel.duration === await page.evaluate((ns) => duration(ns), longest.ns), [panel, longest.ns]);
	check('it looked up', /^look up 1 /.test(panel.children), panel.children);
	inputs++;
	await page.click('#panel .children button:has-text("look up")');
	await page.waitForFunction(() => document.querySelector('#panel h2').textContent === 'look up' && document.querySelector('#panel .rank'));
	/* The first argument of a scope is its frame, whose name is key. */
	const call = await fields(page), wanted = inner.args.key_2;
	check('what it looked up', wanted >= 1000 && call.key_2?.startsWith(wanted + ' ') && call.duration === await page.evaluate((ns) => duration(ns), inner.ns), [call, inner.args]);
	await page.screenshot({ path: shots + '/task-request.png' });
	await page.close();
	return `${panel.duration}, ${call.duration} of it looking up ${wanted}, by itself ${call.self}`;
}

/* The longest wait on the row of worker 3 is seen; whose row says "holding" meanwhile is told beside the pointer. */
async function holder(browser) {
	const [, who, ns] = /^(worker \d) (\d+)/.exec(readFileSync(told, 'utf8')), page = await opened(browser, workers);
	await light(page);
	const ms = Math.floor(Number(ns) / 1e6), bar = await findBar(page, 'worker 3', /^worker 3: waiting: [2-9]\d(\.\d+)? ms/);
	check('worker 3 waited long', bar && ms >= 20, [bar, ns]);
	await click(page, bar.x, bar.y);
	await page.waitForFunction(() => document.querySelector('#panel h2')?.textContent === 'worker 3: waiting' && document.querySelector('#panel .rank'));
	const panel = await fields(page), [, n] = /^([\d.]+) ms/.exec(panel.duration);
	check('as long as it says itself', Math.abs(Number(n) - Number(ns) / 1e6) < 5, [panel, ns]);
	const begun = await page.evaluate(() => {
		const { from, to } = ktr.view.selected.bar;
		return document.getElementById('plot').getBoundingClientRect().left + 290 + (from + (to - from) / 10 - ktr.view.from) / (ktr.view.to - ktr.view.from) *
			(document.getElementById('plot').getBoundingClientRect().width - 290);
	});
	const said = [];
	for (const row of [0, 1, 2, 4]) {
		const y = await page.evaluate((text) => {
			const line = ktr.view.lines.find((l) => l.text === text && l.row >= 0);
			return document.getElementById('plot').getBoundingClientRect().top + 26 + line.y - ktr.view.top + line.height / 2;
		}, 'worker ' + row);
		inputs++;
		await page.mouse.move(begun, y);
		said.push(await page.textContent('#tip'));
	}
	await page.waitForFunction(() => document.querySelector('#panel .around table'));
	const path = await page.evaluate(() => [...document.querySelectorAll('#panel .around tr')].map((row) => [...row.cells].map((cell) => cell.textContent)));
	const [had] = path.filter(([name]) => name.startsWith(who + ' (')), [, took] = /^([\d.]+) ms had lock 0x/.exec(had?.[1]) ?? [];
	check('the panel has who held it, and how long', Math.abs(Number(took) - Number(ns) / 1e6) < 5, [path, ns]);
	const ink = await page.evaluate((who) => {
		ktr.draw();
		const line = ktr.view.lines.find((l) => l.row >= 0 && ktr.index.rows[l.row].kind === 3 && l.text.startsWith(who + ' ')), { from, to } = ktr.view.selected.bar;
		const canvas = document.getElementById('plot'), x = 290 + ((from + to) / 2 - ktr.view.from) / (ktr.view.to - ktr.view.from) * (canvas.width - 290);
		return [...canvas.getContext('2d').getImageData(Math.round(x), 26 + line.y - ktr.view.top, 1, 2).data].join();
	}, who);
	check('it is drawn along the row of who held it', ink.startsWith('179,74,0'), ink);
	const held = said.filter((text) => /: holding: /.test(text));
	check('who held it', held.length === 1 && held[0].startsWith(who + ': holding'), [said, who]);
	await page.screenshot({ path: shots + '/task-lock.png' });
	await page.close();
	return held[0] + ', while ' + panel.title + ' ' + panel.duration;
}

/* The first thing that is read. */
async function slower(browser) {
	const page = await opened(browser, builds);
	await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
	const headline = await page.textContent('#headline'), first = await page.textContent('#drawer tbody td');
	check('which build', /^B took .*: \+/.test(headline) && /Most of it: parse, \+/.test(headline) && first === 'parse', [headline, first]);
	await page.screenshot({ path: shots + '/task-builds.png' });
	await page.close();
	return headline;
}

const browser = await start();
await timed('the slowest request:', () => slowest(browser));
await timed('who held the lock:', () => holder(browser));
await timed('which build is slower:', () => slower(browser));
await browser.close();
process.exit(failed() ? 1 : 0);
