// SPDX-License-Identifier: BSD-2-Clause
// Flows: arrows from thread to thread between what has the same value of an argument. Two requests that three threads of
// tests/programs/show/nest.c hand on, at known moments; and a lock that two threads of tests/page/locks.c take in turns,
// traced by the agent, where the arrows are from who gave it back to who had it next, as `ktr json` tells. KTR_FLOW across
// threads and processes (tests/page/hand.c), whose arrows are there when the page opens. And who was on a thread's CPU while it
// waited (tests/page/cpu.c), as the events of `ktr json` say.
//
//	node flows.mjs KTR TURNS-PAGE LOCKS-TRACE LOCKS-PAGE HAND-TRACE HAND-PAGE CPU-TRACE CPU-PAGE SCREENSHOTS
import { execFileSync } from 'node:child_process';
import { check, failed, light, openPage, start, written } from './browser.mjs';

const [ktr, turns, trace, locks, handTrace, hand, cpuTrace, cpu, shots] = process.argv.slice(2);
const told = (of) => execFileSync(ktr, ['json', '--events', of], { encoding: 'utf8' }).trimEnd().split('\n').map((line) => JSON.parse(line));

/* Where an event of a thread is, by the name of its row and its time [ns] since the trace began. */
const placeOf = (page, [name, ns, level]) => page.evaluate(([text, at, scope]) => {
	const line = ktr.view.lines.find((l) => l.text === text || l.text.startsWith(text + ' ')), { width } = document.getElementById('plot');
	return { x: 290 + (at - ktr.index.from - ktr.view.from) / (ktr.view.to - ktr.view.from) * (width - 290), y: 26 + line.y - ktr.view.top + (scope ? 10 : line.height / 2) };
}, [name, ns, level]);

/* [pixels] How wide the ink is around the points of a line between two places, the narrowest of them. */
const inkBetween = (page, a, b) => page.evaluate(([from, to]) => {
	const pen = document.getElementById('plot').getContext('2d'), long = Math.hypot(to.x - from.x, to.y - from.y);
	const [dx, dy] = [(to.x - from.x) / long, (to.y - from.y) / long];
	const dark = (x, y) => 255 - pen.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3).reduce((sum, c) => sum + c, 0) / 3;
	let least = Infinity;
	for (let share = 0.2; share <= 0.6; share += 0.05) {
		let ink = 0;
		for (let by = -4; by <= 4; by++)
			ink += dark(from.x + share * (to.x - from.x) + by * dy, from.y + share * (to.y - from.y) - by * dx) > 150;
		least = Math.min(least, ink);
	}
	return least;
}, [a, b]);

async function arrows(page, pairs) {
	await written(page);
	return Promise.all(pairs.map(async ([a, b]) => inkBetween(page, await placeOf(page, a), await placeOf(page, b))));
}

async function select(page, event) {
	await page.evaluate((number) => ktr.selectNumber(number), event);
	await page.waitForFunction((number) => ktr.view.selected?.event === number && document.querySelector('#panel table'), event);
}

const flows = (page, name) => page.locator('#panel .arguments tr', { has: page.locator(`td:first-child:text-is("${name}")`) }).locator('button:text-is("flows")');
const ms = (n) => n * 1e6;

async function requests(browser) {
	const page = await openPage(browser, turns);
	await page.evaluate(() => ktr.ready);
	await light(page);
	const pairs = [[1, 'beta', 0, 'gamma', 20], [1, 'gamma', 20, 'alpha', 80], [2, 'beta', 10, 'gamma', 110], [2, 'gamma', 110, 'alpha', 150]];
	const ends = pairs.map(([, a, from, b, to]) => [[a, ms(from), true], [b, ms(to), true]]);
	await select(page, await page.evaluate(() => ktr.chunkLater(0).then((chunk) => [...chunk.site].findIndex((s, e) =>
		ktr.index.sites[s].args.some((arg) => arg.name === 'request') && chunk.time[e] === 110e6))));
	const before = await arrows(page, ends);
	check('no arrows before', before.filter((ink) => ink > 0).length <= 1, before);
	await flows(page, 'request').click();
	const after = await arrows(page, ends);
	check('an arrow for each hand-over', after.every((ink) => ink > 0), after);
	check("the selected request's are wide", Math.min(after[2], after[3]) > Math.max(after[0], after[1]), after);
	await page.waitForFunction(() => location.hash.includes('flow=request'));
	await page.screenshot({ path: shots + '/flows.png' });
	const other = await openPage(browser, turns, new URL(page.url()).hash);
	await other.evaluate(() => ktr.ready);
	await light(other);
	await other.waitForFunction(() => ktr.flow.name === 'request' && ktr.view.selected);
	const linked = await arrows(other, ends);
	check('a link has them', linked.every((ink) => ink > 0), linked);
	await other.close();
	await flows(page, 'request').click();
	check('they go again', (await arrows(page, ends)).join() === before.join(), [before]);
	await page.close();
}

async function lock(browser) {
	const events = told(trace);
	const first = BigInt(events[0].ts_ns), mutex = events.filter(({ func, args }) => /^mutex-/.test(func) && args.lock);
	const handed = mutex.slice(1).map((event, i) => [mutex[i], event]).filter(([a, b]) => a.args.lock === b.args.lock && a.tid !== b.tid);
	const page = await openPage(browser, locks);
	await page.evaluate(() => ktr.ready);
	await light(page);
	await page.keyboard.press('2');
	check('the lock was handed on', handed.length > 5 && handed.every(([a, b]) => a.func === 'mutex-release' && b.func === 'mutex-acquire'),
		handed.map(([a, b]) => [a.func, b.func]));
	/* Behind each taking and giving back a page has one more, of the lock's row. */
	const before = events.slice(0, events.indexOf(handed[1][0]));
	await select(page, before.length + before.filter(({ func }) => /^mutex-(acquire|release)$/.test(func)).length);
	await flows(page, 'lock').click();
	const end = ({ thread, ts_ns: at }) => [thread, Number(BigInt(at) - first)];
	const seen = await arrows(page, handed.map(([a, b]) => [end(a), end(b)]));
	check('arrows from who gave it back', seen.every((ink) => ink > 0), seen);
	await page.screenshot({ path: shots + '/flows-lock.png' });
	await page.close();
}

/* Each job goes from thread to thread, twice into another process; forms have the same keys, and stay. */
async function handed(browser) {
	const events = told(handTrace), first = BigInt(events[0].ts_ns), of = (name) => events.filter(({ msg }) => msg.startsWith(name + ' flow:'));
	const jobs = new Map(of('job').map(({ args }) => [args.flow, of('job').filter((other) => other.args.flow === args.flow)])), pairs = [...jobs.values()].flatMap((all) => all.slice(1).map((event, i) => [all[i], event]));
	const end = ({ thread, tid, ts_ns: at }) => [`${thread} (${tid})`, Number(BigInt(at) - first), true];
	check('jobs are handed on', jobs.size === 3 && pairs.length === 9 && pairs.every(([a, b]) => a.tid !== b.tid) && of('form').length === 3 &&
		new Set(pairs.flat().map(({ pid }) => pid)).size === 2, pairs.map(([a, b]) => [a.msg, a.thread, b.thread]));
	const page = await openPage(browser, hand);
	await page.evaluate(() => ktr.ready);
	await light(page);
	await page.mouse.move(5, 5);
	/* From process to process they cross empty ground; those of what is selected are wide. */
	const far = pairs.filter(([a, b]) => a.pid !== b.pid), seen = [];
	for (const pair of far) {
		await select(page, events.indexOf(pair[0]));
		seen.push(...await arrows(page, [pair.map(end)]));
	}
	check('arrows without asking', seen.length === 6 && seen.every((ink) => ink > 0), seen);
	await page.screenshot({ path: shots + '/flows-hand.png' });
	/* A form has a job's key, but another name: as many arrows are drawn as jobs are handed on. */
	const drawn = await page.evaluate(() => {
		const plain = drawArrow;
		let n = 0;
		drawArrow = (...ends) => { n++; plain(...ends); };
		ktr.draw();
		drawArrow = plain;
		return n / 2;
	});
	check('no arrow to another name', drawn === pairs.length, drawn);
	await select(page, events.indexOf(pairs[0][0]));
	await flows(page, 'flow').click();
	await page.waitForFunction(() => /[#&]flow=(&|$)/.test(location.hash));
	const gone = await arrows(page, far.map((pair) => pair.map(end)));
	check('they go, and the link says so', gone.every((ink) => ink === 0), gone);
	await page.close();
}

/* Whose event was the last one there has the CPU: from the guest's first one on it is the guest, to the end of the wait. */
async function meanwhile(browser) {
	const events = told(cpuTrace), at = events.findIndex(({ kind, func }) => kind === 'start' && func === 'wait_for_guest');
	const first = events[at], last = events.find(({ kind, func }) => kind === 'stop' && func === 'wait_for_guest'), time = ({ ts_ns: ns }) => Number(ns);
	const there = events.filter((event) => event.cpu === first.cpu && time(event) > time(first) && time(event) < time(last));
	const share = (time(last) - time(there[0])) / (time(last) - time(first));
	check('the guest has it', last.cpu === first.cpu && there.length >= 30 && there.every(({ thread }) => thread === 'guest') && share > 0.5, [share, there.length]);
	const page = await openPage(browser, cpu);
	await page.evaluate(() => ktr.ready);
	await select(page, at);
	await page.waitForFunction(() => document.querySelector('#panel .around p'));
	const said = await page.evaluate(() => document.querySelector('#panel .around').innerText.split(/\n+/));
	check('who was on its CPU meanwhile', said.join() === `on its CPU meanwhile,guest (${there[0].tid}) ${(100 * share).toFixed(1)} %`, [said, share]);
	await page.screenshot({ path: shots + '/flows-cpu.png' });
	await page.close();
}

const browser = await start();
await requests(browser);
await lock(browser);
await handed(browser);
await meanwhile(browser);
await browser.close();
process.exit(failed() ? 1 : 0);
