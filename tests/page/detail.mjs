// SPDX-License-Identifier: BSD-2-Clause
// What a click on a call says: each call of tests/programs/show/nest.c, whose times are known to the millisecond, with what
// is around and in it and its place among its kind; keys that go through its kind; and that all this is in the page's
// address, which back and forward go through.
//
//	node detail.mjs KNOWN-PAGE SCREENSHOTS
import { check, failed, fields, light, openPage, placeOf, start } from './browser.mjs';

const [known, shots] = process.argv.slice(2);
/* Thread, level, name, from, to, self [ms], parent, children, place among its kind. */
const calls = [
	['nest', 0, 'main', 0, 1000, 400, 'none', 'read_all 2 400 ms 200 ms, attempt 2 200 ms 100 ms', 'the only main'],
	['nest', 1, 'read_all', 100, 300, 200, 'main', '', 'the longest of 2 read_all'],
	['nest', 1, 'read_all', 300, 500, 100, 'main', 'parse 1 100 ms 100 ms', 'the longest of 2 read_all'],
	['nest', 2, 'parse', 350, 450, 100, 'read_all', '', 'the only parse'],
	['nest', 1, 'attempt', 600, 700, 100, 'main', '', 'the only attempt'],
	['worker', 0, 'work', 700, 900, 100, 'none', 'write 1 100 ms 100 ms', 'the only work'],
];
const ms = (text) => {
	const [, number, unit] = /([\d.]+) (ns|µs|ms|s)\b/.exec(text) ?? [];
	return Number(number) * { ns: 1e-6, 'µs': 1e-3, ms: 1, s: 1000 }[unit];
};

async function clickCall(page, [thread, level, , from, to]) {
	const at = await placeOf(page, thread, level, (from + to) / 2);
	await page.mouse.click(at.x, at.y);
	await page.waitForFunction(() => /longest|only/.test(document.querySelector('#panel .rank')?.textContent ?? ''));
	return fields(page);
}

async function clicking(page) {
	for (const call of calls) {
		const [thread, , name, from, to, self, parent, children, rank] = call;
		await page.keyboard.press('Escape');
		const told = await clickCall(page, call);
		const near = (field, want) => check(`${field} of ${name}`, Math.abs(ms(told[field] ?? '') - want) < 2, told);
		check('name of ' + name, told.title === name, told);
		check('begin of ' + name, Math.abs(Number(told.begin.replace(/[ s]/g, '')) * 1000 - from) < 2, told);
		check('end of ' + name, Math.abs(Number(told.end.replace(/[ s]/g, '')) * 1000 - to) < 2, told);
		near('duration', to - from);
		near('self', self);
		check('parent of ' + name, told.parent === parent, told);
		check('children of ' + name, told.children === children, [told.children, children]);
		check('where ' + name + ' is', /nest\.c:\d+$/.test(told.where), told);
		check('thread of ' + name, told.thread.startsWith(thread + ' ('), told);
		check('message of ' + name, told.message === name + ' starts', told);
		check('rank of ' + name, told.rank === rank, told);
	}
}

/* Keys go to the one of its kind before and after, and to the longest. */
async function ofItsKind(page) {
	await page.keyboard.press('Escape');
	const first = await clickCall(page, calls[1]), begin = (told) => told.begin;
	const until = (...texts) => page.waitForFunction((wanted) => wanted.includes(document.querySelector('#panel td.value')?.textContent), texts)
		.then(() => true, () => false);
	await page.keyboard.press('.');
	await page.waitForFunction((before) => document.querySelector('#panel td.value').textContent !== before, begin(first));
	const second = await fields(page);
	check('the next of its kind', Math.abs(Number(second.begin.replace(/[ s]/g, '')) - 0.3) < 0.002, second);
	await page.keyboard.press(',');
	check('the one before of its kind', await until(begin(first)), await fields(page));
	await page.keyboard.press('l');
	check('the longest of its kind', await until(begin(first), begin(second)), await fields(page));
	const bars = await page.evaluate(() => document.querySelectorAll('#panel .histogram rect.mine').length);
	check('its bar is marked', bars === 1, bars);
}

/* What is looked at is in the address: it opens so again, and back goes to what was chosen before. */
async function linking(page, browser) {
	await page.keyboard.press('Escape');
	await clickCall(page, calls[3]);
	await page.evaluate(() => ktr.look(2e8, 6e8));
	await page.waitForFunction(() => /view=200\d+\.\.600\d+&.*event=/.test(location.hash));
	const url = page.url(), again = await openPage(browser, known, new URL(url).hash);
	await again.evaluate(() => ktr.ready);
	await again.waitForFunction(() => document.querySelector('#panel h2')?.textContent === 'parse');
	const seen = await again.evaluate(() => [Math.round(ktr.view.from / 1e6), Math.round(ktr.view.to / 1e6), ktr.view.by]);
	check('a link opens what was looked at', seen.join() === '200,600,ids', seen);
	await again.close();
	const main = await clickCall(page, ['nest', 0, '', 210, 240]);
	check('another one', main.title === 'main', main);
	await page.waitForFunction((before) => location.href !== before, url);
	await page.goBack();
	await page.waitForFunction(() => document.querySelector('#panel h2')?.textContent === 'parse');
	await page.goForward();
	await page.waitForFunction(() => document.querySelector('#panel h2')?.textContent === 'main');
}

/* A note is set by its key, seen as a flag, is in the link, and goes when its words are taken away. */
async function noting(page, browser) {
	await page.keyboard.press('Escape');
	await page.evaluate(() => ktr.look(0, ktr.index.span));
	const at = await placeOf(page, 'nest', 0, 500), mark = (p, [x, y]) => p.evaluate(([x, y]) =>
		[...document.getElementById('plot').getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3).join(), [x, y]);
	await page.mouse.move(at.x, at.y);
	const before = await mark(page, [Math.round(at.canvasX) + 2, 4]);
	await page.keyboard.press('o');
	await page.keyboard.type('here & there');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => /note=\d+\+here/.test(location.hash));
	const flag = await mark(page, [Math.round(at.canvasX) + 2, 4]);
	check('a flag', flag !== before && flag === '179,74,0', [before, flag]);
	await page.screenshot({ path: shots + '/note.png' });
	const again = await openPage(browser, known, new URL(page.url()).hash);
	await again.evaluate(() => ktr.ready);
	check('the note is in the link', await again.evaluate(() => ktr.view.notes[0]?.text) === 'here & there');
	await again.close();
	await page.mouse.click(at.x + 4, at.top + 8);
	await page.waitForFunction(() => !document.getElementById('note').hidden);
	await page.locator('#note input').fill('');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => ktr.view.notes.length === 0);
}

const seen = (page) => page.evaluate(() => [ktr.view.from / 1e6, ktr.view.to / 1e6]);
/* Where a call begins and ends may be in a part of the page that is unpacked first. */
const fits = async (what, page, from, to) => check(what, await page.waitForFunction((want) =>
	[ktr.view.from, ktr.view.to].every((ns, i) => Math.abs(ns / 1e6 - want[i]) < 2), [from, to]).catch(() => false), await seen(page));

/* f goes to what is selected, and from there to everything; without a selection, at once. */
async function fitting(page) {
	await page.keyboard.press('Escape');
	await page.evaluate(() => ktr.look(2e8, 9e8));
	await clickCall(page, calls[3]);
	await page.keyboard.press('f');
	await fits('f goes to what is selected', page, 350 - 12.5, 450 + 12.5);
	await page.keyboard.press('f');
	await fits('and then to everything', page, 0, 1000);
	await page.click('#fit');
	await fits('as the button does', page, 350 - 12.5, 450 + 12.5);
	await page.keyboard.press('Escape');
	await page.keyboard.press('f');
	await fits('without a selection to everything', page, 0, 1000);
}

/* What is selected is in its own range. What is in sight is the range: by a key, and by a click on how long that is. */
async function inSight(page) {
	for (const [from, to, press, want] of [[0, 1000, () => clickCall(page, calls[1]).then(() => page.keyboard.press('m')), 'read_all 1'], [280, 520, () => page.keyboard.press('v'), 'parse 1,read_all 1'],
		[-50, 1050, () => page.click('#range'), 'attempt 1,main 1,parse 1,read_all 2,work 1,write 1']]) {
		await page.evaluate(([a, b]) => ktr.look(a, b), [from * 1e6, to * 1e6]);
		await press();
		await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
		const rows = await page.evaluate(() => [...document.querySelectorAll('#drawer tbody tr')].map((row) => row.cells[0].textContent + ' ' + row.cells[1].textContent).sort().join());
		check(`numbers of what is in sight, from ${from} to ${to}`, rows === want, rows);
		await page.keyboard.press('Escape');
		await page.waitForFunction(() => document.getElementById('drawer').hidden);
	}
}

/* On paper a dark page is light, the plot, too, and lacks what nobody can press there; afterwards it is dark again. */
async function printing(page) {
	await page.click('#theme');
	const ground = () => page.evaluate(() => {
		const pen = document.getElementById('plot').getContext('2d');
		return [...pen.getImageData(pen.canvas.width - 2, pen.canvas.height - 2, 1, 1).data].slice(0, 3).join() + ' ' + getComputedStyle(document.body).backgroundColor;
	}), dark = await ground();
	await page.evaluate(() => addEventListener('beforeprint', () => {
		const pen = document.getElementById('plot').getContext('2d');
		window.paper = [...pen.getImageData(pen.canvas.width - 2, pen.canvas.height - 2, 1, 1).data].slice(0, 3).join() + ' ' + getComputedStyle(document.body).backgroundColor;
	}));
	await page.emulateMedia({ media: 'print' });
	check('nothing to press on paper', !await page.locator('nav').isVisible() && await page.locator('#plot').isVisible());
	const pdf = await page.pdf({ printBackground: true, path: shots + '/paper.pdf' });
	await page.emulateMedia({ media: null });
	const paper = await page.evaluate(() => window.paper);
	check('paper is light', pdf.length > 10000 && paper === '255,255,255 rgb(255, 255, 255)', [pdf.length, paper]);
	check('and the screen dark', dark.startsWith('22,24,28') && await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark').then(ground) === dark, [dark, await ground()]);
	await light(page);
}

const browser = await start();
const page = await openPage(browser, known);
await page.evaluate(() => ktr.ready);
await light(page);
check('a pointer has no sign', await page.evaluate(() => pointerText(-1n, 0)) === '0x' + 'f'.repeat(16));
await clicking(page);
await page.screenshot({ path: shots + '/detail.png' });
await ofItsKind(page);
await linking(page, browser);
await noting(page, browser);
await fitting(page);
await inSight(page);
await printing(page);
await browser.close();
process.exit(failed() ? 1 : 0);
