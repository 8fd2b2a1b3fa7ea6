// SPDX-License-Identifier: BSD-2-Clause
// Scopes in each other on a page, in a browser: each call of tests/programs/show/nest.c is where it is made, in its
// name's colour, with its name; pointing at it says how long it took, and how long of that by itself.
//
//	node nest.mjs KNOWN-PAGE DEEP-PAGE SCREENSHOTS
import { check, failed, openPage, start } from './browser.mjs';

const [known, deep, shots] = process.argv.slice(2);
/* Thread, level, name, from, to, self: in milliseconds. */
const calls = [
	['nest', 0, 'main', 0, 1000, 400], ['nest', 1, 'read_all', 100, 300, 200], ['nest', 1, 'read_all', 300, 500, 100],
	['nest', 2, 'parse', 350, 450, 100], ['nest', 1, 'attempt', 600, 700, 100], ['worker', 0, 'work', 700, 900, 100],
	['worker', 1, 'write', 800, 900, 100],
];

/* Where a call is on the screen, and what its pixel and those of its border are. */
const place = (page, [thread, level, name, from, to]) => page.evaluate(([thread, level, name, from, to]) => {
	const line = ktr.view.lines.find((l) => l.text.startsWith(thread + ' ')), canvas = document.getElementById('plot');
	const x = (ms) => 290 + (ms * 1e6 - ktr.view.from) / (ktr.view.to - ktr.view.from) * (canvas.width - 290);
	const y = 26 + line.y - ktr.view.top + 2 + 16 * level + 7, pen = canvas.getContext('2d');
	const pixel = (at) => [...pen.getImageData(Math.round(at), y + 6, 1, 1).data].slice(0, 3);
	const label = ktr.index.labels.findIndex((text, i) => text === name && ktr.index.scopes.includes(i));
	const colour = ktr.index.colours[label];
	const box = canvas.getBoundingClientRect();
	return { x: box.left + x((from + to) / 2), y: box.top + y, pixel: pixel(x(to) - 4).join(),
		before: [-2, -1, 0, 1, 2].map((by) => pixel(x(from) + by).join()),
		colour: [colour >> 16, colour >> 8 & 255, colour & 255].join() };
}, [thread, level, name, from, to]);

const browser = await start();
const page = await openPage(browser, known);
await page.evaluate(() => ktr.ready);
await page.evaluate(() => document.documentElement.dataset.theme === 'dark' && document.getElementById('theme').click());
await page.evaluate(() => { ktr.look(0, ktr.index.span); ktr.draw(); });
for (const call of calls) {
	const [, level, name, from, to, self] = call, at = await place(page, call);
	check('colour of ' + name, at.pixel === at.colour, at);
	await page.mouse.move(at.x, at.y);
	await page.waitForFunction((text) => document.getElementById('tip').textContent.startsWith(text), name + ': ')
		.catch(() => {});
	const tip = await page.evaluate(() => document.getElementById('tip').textContent);
	const ms = (text) => Number(/([\d.]+) (s|ms)/.exec(text)[1]) * (/ s$/.test(text) ? 1000 : 1);
	const said = /^(\w+): ([\d.]+ m?s), self ([\d.]+ m?s), depth (\d+)$/.exec(tip);
	check('tip of ' + name, said && said[1] === name && Math.abs(ms(said[2]) - (to - from)) < 2 &&
		Math.abs(ms(said[3]) - self) < 2 && Number(said[4]) === level, tip);
}
const second = await place(page, calls[2]);
check('a border between siblings', second.before.some((pixel) => pixel === '255,255,255'), second);
/* A click selects the event that it began with. */
const parse = await place(page, calls[3]);
await page.mouse.click(parse.x, parse.y);
await page.waitForFunction(() => !document.getElementById('panel').hidden);
check('panel of parse', (await page.textContent('#panel')).includes('parse'), await page.textContent('#panel'));
await page.screenshot({ path: shots + '/nest.png' });
/* A double click zooms to the call, where it is now that the panel takes its room. */
const now = await place(page, calls[3]);
await page.mouse.dblclick(now.x, now.y);
/* Where the call begins and ends may be in a part of the page that is unpacked first. */
await page.waitForFunction(() => ktr.view.to - ktr.view.from < 140e6).catch(() => {});
const span = await page.evaluate(() => (ktr.view.to - ktr.view.from) / 1e6);
check('zoom to parse', span > 100 && span < 140, span);

const below = await openPage(browser, deep);
await below.evaluate(async () => {
	await ktr.ready;
	await ktr.chunkLater(0);
	document.documentElement.dataset.theme === 'dark' && document.getElementById('theme').click();
	ktr.draw();
});
const levels = await below.evaluate(() => ktr.index.rows.filter((row) => row.kind === 3).map((row) => row.levels));
check('levels of recursion', levels.join() === '31', levels);
for (let level = 0; level < 31; level++) {
	const at = await place(below, ['nest', level, 'level', 10 * level, 310]);
	check('colour of level ' + level, at.y > 760 || at.pixel === at.colour, at);
}
await browser.close();
process.exit(failed() ? 1 : 0);
