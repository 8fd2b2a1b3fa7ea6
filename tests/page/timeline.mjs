// SPDX-License-Identifier: BSD-2-Clause
// The page of ktr timeline in a browser: every event with its text, zoom, search, selection, measuring,
// the three kinds of rows; names that are no HTML; and how fast it opens and moves.
//
//	node timeline.mjs PAGE JSON-LINES BIG-PAGE SCREENSHOTS SAID-PAGE
import { readFileSync } from 'node:fs';
import { check, failed, openPage, start } from './browser.mjs';

const [file, told, big, shots, said] = process.argv.slice(2);

/* Bytes that are no text are shown as \xNN here and as U+FFFD there; so are characters that are not shown. */
const comparable = (text) => !/\\x|\ufffd|[\u0000-\u001f\u202e]/.test(text);

async function everyEvent(page) {
	const want = readFileSync(told, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
	const begin = await page.evaluate(() => [ktr.index.begin, ktr.index.from, ktr.index.chunks.length]);
	let n = 0, compared = 0;
	for (let k = 0; k < begin[2]; k++) {
		const got = await page.evaluate(async (number) => {
			const chunk = await ktr.chunkLater(number);
			return Array.from({ length: chunk.n }, (_, e) => [chunk.time[e], chunk.message(e)]);
		}, k);
		for (const [time, text] of got) {
			const event = want[n++];
			check('time of event ' + n, BigInt(begin[0]) + BigInt(begin[1] + time) === BigInt(event.ts_ns), [time, event]);
			/* Pointers have names in one of them. */
			const said = event.msg.replace(/^(.* 0x[0-9a-f]+) \(\S+\)/, '$1');
			if (comparable(said) && comparable(text)) {
				compared++;
				check('text of event ' + n, text.replace(/^(.* 0x[0-9a-f]+) \(\S+\)/, '$1') === said, [text, said]);
			}
			if (failed() > 5)
				return;
		}
	}
	check('number of events', n === want.length, [n, want.length]);
	check('texts compared', compared > want.length / 2, [compared, want.length]);
}

/* Zoomed in to the nanosecond, an event is a mark on its thread's row. */
async function everyMark(page) {
	await page.keyboard.press('2');
	const unseen = await page.evaluate(async () => {
		const chunk = await ktr.chunkLater(0), out = [];
		for (let e = 0; e < chunk.n; e += 97) {
			ktr.look(chunk.time[e] - 100, chunk.time[e] + 100);
			ktr.view.selected = null;
			ktr.draw();
			const line = ktr.view.lines.find((l) => l.marks === chunk.list('threads').row[e]);
			if (!line || !ktr.view.sight.detail) {
				out.push([e, 'no line']);
				continue;
			}
			const canvas = document.getElementById('plot'), width = canvas.width - 290;
			const x = 290 + Math.floor(100 / 200 * width), y = 26 + line.y - ktr.view.top + line.height - 4;
			const pen = canvas.getContext('2d');
			if (y < 0 || y >= canvas.height)
				continue;
			const at = pen.getImageData(x - 1, y, 3, 1).data, ground = [...pen.getImageData(canvas.width - 3, canvas.height - 3, 1, 1).data].join();
			if (![0, 4, 8].some((i) => [...at.slice(i, i + 4)].join() !== ground))
				out.push([e, x, y]);
		}
		return out;
	});
	check('events without a mark', unseen.length === 0, unseen.slice(0, 5));
}

async function looking(page) {
	const span = () => page.evaluate(() => ktr.view.to - ktr.view.from);
	await page.keyboard.press('f');
	const whole = await span();
	await page.mouse.move(700, 300);
	await page.keyboard.down('w');
	await page.waitForFunction((n) => ktr.view.to - ktr.view.from < n / 100, whole);
	await page.keyboard.up('w');
	await page.evaluate(() => ktr.look(ktr.view.from, ktr.view.from + 1));
	check('zoom to the nanosecond', await span() === 20, await span());
	await page.keyboard.press('f');
	const from = await page.evaluate(() => { ktr.look(ktr.index.span * 0.4, ktr.index.span * 0.5); return ktr.view.from; });
	await page.keyboard.down('d');
	await page.waitForFunction((n) => ktr.view.from > n, from);
	await page.keyboard.up('d');
	await page.keyboard.press('f');
	for (const [key, by] of [['1', 'ids'], ['2', 'threads'], ['3', 'cpus']]) {
		await page.keyboard.press(key);
		check('rows with ' + key, await page.evaluate(() => ktr.view.by) === by && await page.evaluate(() => ktr.view.lines.length) > 1);
		await page.waitForTimeout(100);
		await page.screenshot({ path: `${shots}/hostile-${by}.png` });
	}
	await page.keyboard.press('t');
	await page.waitForTimeout(100);
	await page.screenshot({ path: `${shots}/hostile-dark.png` });
	await page.keyboard.press('t');
	await page.keyboard.press('?');
	check('help', await page.evaluate(() => document.getElementById('keys').open));
	await page.keyboard.press('Escape');
}

async function finding(page) {
	const hits = () => page.evaluate(() => document.getElementById('hits').textContent);
	const selected = () => page.evaluate(() => ktr.view.selected && ktr.view.selected.event);
	await page.keyboard.press('/');
	await page.keyboard.type('100%');	/* in no format but "%-8s|%5d|%%%c" printed */
	await page.waitForFunction(() => ktr.search.text === '100%');
	await page.keyboard.press('Escape');
	await page.keyboard.press('/');
	await page.keyboard.type('<img src');
	await page.waitForFunction(() => /^[1-9][0-9,]* hits$/.test(document.getElementById('hits').textContent));
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => ktr.view.selected);
	const first = await selected();
	await page.keyboard.press('Enter');
	await page.waitForFunction((n) => ktr.view.selected.event > n, first);
	check('place among hits', /^2 of [0-9,]+ hits$/.test(await hits()) || Number((await hits()).split(' ')[0].replace(',', '')) > 1, await hits());
	const panel = await page.evaluate(() => document.getElementById('panel').innerText);
	check('place of the event', /hostile\.c:\d+/.test(panel), panel);
	check('thread of the event', /thread\s+(<\/script>a|\\xff<b>) \(\d+\)/.test(panel), panel);
	check('argument of the event', panel.includes('&amp;<img src=x onerror=alert(2)>'), panel);
	check('nothing of it is HTML', await page.evaluate(() => document.images.length) === 0);
	await page.keyboard.press('Escape');
	await page.evaluate(() => ktr.searchStart('key=7', true));
	await page.waitForFunction(() => /hits$/.test(document.getElementById('hits').textContent) && !document.getElementById('hits').textContent.includes('+'));
	check('followed value', await page.evaluate(() => ktr.search.total) === 4, await hits());
	await page.screenshot({ path: `${shots}/hostile-follow.png` });
	await page.evaluate(() => ktr.searchStart('no such text', false));
	await page.waitForFunction(() => document.getElementById('hits').textContent === '0 hits');
	await page.keyboard.press('Escape');
}

async function measuring(page) {
	await page.evaluate(() => ktr.look(0, ktr.index.span));
	await page.waitForTimeout(100);
	await page.mouse.move(400, 250);
	await page.keyboard.press('m');
	await page.mouse.move(800, 250);
	await page.keyboard.press('m');
	const [measured, want] = await page.evaluate(() => [ktr.view.measure.b - ktr.view.measure.a,
		400 / (document.getElementById('plot').getBoundingClientRect().width - 290) * (ktr.view.to - ktr.view.from)]);
	check('measure', Math.abs(measured / want - 1) < 0.01, [measured, want]);
	check('measure in words', (await page.evaluate(() => document.getElementById('range').textContent)).startsWith('measured'));
	await page.keyboard.press('z');
	check('zoom to the measure', await page.evaluate(() => Math.abs((ktr.view.to - ktr.view.from) / (ktr.view.measure.b - ktr.view.measure.a) - 1) < 0.01));
	await page.keyboard.press('Escape');
	check('escape', await page.evaluate(() => ktr.view.measure === null));
}

/* A click on a bar selects the event that began it. */
async function clicking(page) {
	await page.keyboard.press('1');
	const at = await page.evaluate(async () => {
		const chunk = await ktr.chunkLater(0);
		const e = [...chunk.site].findIndex((s, i) => ktr.index.sites[s].kind === 1 && i > 100);
		ktr.look(chunk.time[e] - 50, chunk.time[e] + 300);
		const line = ktr.view.lines.find((l) => l.row === chunk.list('ids').row[e]);
		ktr.view.top = Math.max(0, line.y - 100);
		ktr.draw();
		const box = document.getElementById('plot').getBoundingClientRect();
		return { e, x: box.left + 290 + (box.width - 290) * 60 / 350, y: box.top + 26 + line.y - ktr.view.top + line.height / 2 };
	});
	await page.mouse.click(at.x, at.y);
	await page.waitForFunction(() => ktr.view.selected);
	check('click', await page.evaluate(() => ktr.view.selected.event) === at.e, at);
	await page.keyboard.press('Escape');
}

/* A click on the headline goes to the row that it is about, and a counter tells what it was where the pointer is. */
async function saying(browser) {
	const page = await openPage(browser, said);
	await page.evaluate(() => ktr.ready);
	await page.keyboard.press('3');
	await page.click('#title');
	const at = await page.evaluate(() => {
		ktr.draw();
		const line = ktr.view.lines.find((l) => l.said === 1), [row, from, to] = ktr.index.frame.said[0];
		return { by: ktr.view.by, text: line?.text, row: line?.row === row, seen: ktr.view.from <= from && ktr.view.to >= to,
			wide: (to - from) / (ktr.view.to - ktr.view.from), measured: ktr.view.measure.b - ktr.view.measure.a === to - from };
	});
	check('headline', at.by === 'ids' && at.text === 'row 5' && at.row && at.seen && at.wide > 0.4 && at.measured, at);
	await page.keyboard.press('Escape');
	await page.keyboard.press('f');
	for (const [name, values] of [['wide', ['-7', '3000000000']], ['double', ['-0.36', '0.25']], ['exact', ['9223372036854788153']],
		['heap [KiB]', Array.from({ length: 20 }, (_, i) => 4096 * (i + 1) + ' KiB')]]) {
		const place = await page.evaluate((text) => {
			ktr.draw();
			const line = ktr.view.lines.find((l) => l.text === text), box = document.getElementById('plot').getBoundingClientRect();
			return { x: box.left + box.width / 2, y: box.top + 26 + line.y - ktr.view.top + line.height / 2 };
		}, name);
		await page.mouse.move(place.x, place.y);
		const tip = await page.evaluate(() => document.getElementById('tip').textContent);
		check('value of ' + name, values.some((value) => tip.startsWith(name + ': ' + value + ' (')), tip);
	}
	await page.screenshot({ path: `${shots}/said.png` });
	await page.close();
}

/* [ms] What was between two frames while a key is held down. */
async function moving(page, key, from, to) {
	await page.evaluate(([a, b]) => {
		window.times = [];
		ktr.look(a, b);
		ktr.drawn = () => times.push(performance.now());
	}, [from, to]);
	await page.mouse.move(740, 300);
	await page.keyboard.down(key);
	await page.waitForTimeout(1500);
	await page.keyboard.up(key);
	return page.evaluate(() => times.slice(1).map((time, i) => time - times[i]));
}

async function bigPage(browser) {
	const begin = Date.now(), page = await openPage(browser, big);
	const first = await page.evaluate(() => ktr.ready), wall = Date.now() - begin;
	await page.waitForFunction(() => document.readyState === 'complete');
	const whole = await page.evaluate(() => performance.now());
	const [events, span] = await page.evaluate(() => [ktr.index.events, ktr.index.span]);
	await page.screenshot({ path: `${shots}/big.png` });
	const took = [];
	for (const [key, from, to] of [['w', 0, span], ['d', 0, span / 2], ['s', span * 0.5, span * 0.501], ['d', span * 0.2, span * 0.25],
		['a', span * 0.5, span * 0.501]]) {
		took.push(...await moving(page, key, from, to));
	}
	took.sort((a, b) => a - b);
	const median = took[took.length >> 1], under = took.filter((ms) => ms < 33).length / took.length;
	console.log(`${events} events: first picture ${Math.round(first)} ms (${wall} ms from here), all parsed ${Math.round(whole)} ms, ` +
		`${took.length} frames, median ${median.toFixed(1)} ms, ${(100 * under).toFixed(1)} % under 33 ms`);
	check('big page', events >= 1e7, events);
	await page.evaluate(async () => {
		const chunk = await ktr.chunkLater(Math.floor(ktr.index.chunks.length / 2)), time = chunk.time[chunk.n / 2];
		ktr.look(time - 5000, time + 5000);
	});
	await page.waitForFunction(() => ktr.view.sight.detail && ktr.view.sight.missing === 0);
	await page.waitForTimeout(200);
	await page.screenshot({ path: `${shots}/big-zoomed.png` });
	await page.close();
	return { median, wall };
}

const browser = await start();
const page = await openPage(browser, file);
await page.evaluate(() => ktr.ready);
check('title', (await page.title()).length > 5);
await everyEvent(page);
await everyMark(page);
await looking(page);
await finding(page);
await measuring(page);
await clicking(page);
await page.close();
if (said)
	await saying(browser);
if (big) {
	/*
	 * Other load on the machine costs frames and time: the best of five counts, and what is asked for is several times of what
	 * a machine takes that does nothing else, where 95 % of the frames are under 33 ms, and the page opens in three seconds.
	 */
	let median = Infinity, wall = Infinity;
	for (let i = 0; i < 5 && (median >= 33 || wall >= 10000); i++) {
		const once = await bigPage(browser);
		median = Math.min(median, once.median);
		wall = Math.min(wall, once.wall);
	}
	check('half of the frames under 33 ms', median < 33, median);
	check('opened in 10 s', wall < 10000, wall);
}
await browser.close();
process.exit(failed() ? 1 : 0);
