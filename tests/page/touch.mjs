// SPDX-License-Identifier: BSD-2-Clause
// The page under one finger and two: what mouse and keys do can be done by touch alone. Judged by what is on the screen.
//
//	node touch.mjs SERVER-PAGE HAND-PAGE SCREENSHOTS
import { check, failed, fields, light, openPage, start, written } from './browser.mjs';

const [server, hand, shots] = process.argv.slice(2);
const seen = (page) => page.evaluate(() => [ktr.view.from, ktr.view.to]);

/* A pixel of a row that has a bar there, by what the panel says after a tap. */
async function tapBar(page, row, wanted) {
	const { left, width, y } = await page.evaluate((text) => {
		const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.row >= 0 && l.text.startsWith(text));
		return { left: box.left + 290, width: box.width - 290, y: box.top + 26 + line.y - ktr.view.top + 10 };
	}, row);
	for (let x = left + 20; x < left + width; x += 37) {
		await page.touchscreen.tap(x, y);
		await page.waitForTimeout(50);
		const title = await page.waitForFunction(() => document.querySelector('#panel .rank') && document.querySelector('#panel h2').textContent, null,
			{ timeout: 3000 }).then((h) => h.jsonValue(), () => '');
		if (wanted.test(title))
			return title;
	}
	return null;
}

async function fingers(page, ...points) {
	const client = await page.context().newCDPSession(page), [first, ...rest] = points;
	const touch = (type, at) => client.send('Input.dispatchTouchEvent', { type, touchPoints: at.map(([x, y], id) => ({ x, y, id })) });
	await touch('touchStart', first);
	for (const at of rest)
		await touch('touchMove', at);
	await touch('touchEnd', []);
	await page.waitForFunction(() => !ktr.frames.asked);
}

async function looking(page) {
	const box = await page.locator('#plot').boundingBox(), x = box.x + 290 + (box.width - 290) / 2, y = box.y + 100;
	const [from, to] = await seen(page);
	await fingers(page, [[x - 50, y], [x + 50, y]], [[x - 70, y], [x + 70, y]], [[x - 100, y], [x + 100, y]]);
	const [from2, to2] = await seen(page);
	check('two fingers zoom', Math.abs((to2 - from2) / (to - from) - 0.5) < 0.06, [from, to, from2, to2]);
	await fingers(page, [[x, y]], [[x - 40, y]], [[x - 80, y]]);
	const [from3, to3] = await seen(page);
	check('one finger moves', from3 > from2 && Math.abs((to3 - from3) / (to2 - from2) - 1) < 1e-6, [from2, from3]);
	const map = await page.locator('#map').boundingBox();
	await page.touchscreen.tap(map.x + 290 + (map.width - 290) * 0.2, map.y + 8);
	const [from4, to4] = await seen(page), middle = await page.evaluate(() => (ktr.view.from + ktr.view.to) / 2 / ktr.index.span);
	check('a tap on the map', Math.abs(middle - 0.2) < 0.02, [from4, to4, middle]);
	await page.tap('#in');
	check('the button zooms', (await seen(page))[1] - (await seen(page))[0] < (to4 - from4) * 0.7);
	await page.tap('#fit');
	const [from5, to5] = await seen(page);
	check('fit', from5 <= 0 && to5 >= await page.evaluate(() => ktr.index.span), [from5, to5]);
}

async function telling(page) {
	check('a tap on a bar', await tapBar(page, 'connection', /^request$/) === 'request', await page.textContent('#panel'));
	const before = await fields(page);
	check('its numbers', /s$/.test(before.duration) && /longest of/.test(before.rank), before);
	if (!/^the longest/.test(before.rank)) {
		await page.tap('#panel .kind button:text-is("longest")');
		await page.waitForFunction(() => /^the longest/.test(document.querySelector('#panel .rank')?.textContent));
	}
	const longest = await fields(page);
	await page.tap('#panel .kind button:text-is("kind ▸")');
	await page.waitForFunction((begin) => document.querySelector('#panel .rank') && !document.querySelector('#panel .rank').textContent.startsWith('the longest'));
	await page.tap('#panel .kind button:text-is("◂ kind")');
	await page.waitForFunction(() => /^the longest/.test(document.querySelector('#panel .rank')?.textContent));
	check('there and back', (await fields(page)).begin === longest.begin, [await fields(page), longest]);
	/* Numbers of what it covers, sorted by a tap, and a line goes there. */
	await page.tap('#panel .steps button:text-is("range")');
	await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
	await page.tap('#drawer button[data-tab=names]');
	await page.tap('#drawer th:has-text("count") button');
	const counts = await page.evaluate(() => [...document.querySelectorAll('#drawer tbody tr')].map((row) => Number(row.cells[1].textContent.replace(/,/g, ''))));
	check('sorted by count', counts.length > 0 && counts.every((n, i) => !i || n <= counts[i - 1]), counts);
	const name = await page.textContent('#drawer tbody tr td');
	await page.tap('#drawer tbody tr');
	await page.waitForFunction((name) => document.querySelector('#panel h2')?.textContent === name, name);
	await page.screenshot({ path: shots + '/touch.png' });
	/* A note where the finger was. */
	await page.tap('#panel .steps button:text-is("note")');
	await page.locator('#note input').fill('here');
	await page.keyboard.press('Enter');
	check('a note', (await written(page)).some(({ text }) => text === 'here'));
	await page.tap('#link');
	await page.waitForFunction(() => /note=\d+\+here/.test(location.hash) && /#/.test(document.getElementById('said').textContent));
	await page.tap('#panel .steps button:text-is("close")');
	check('closed', await page.evaluate(() => document.getElementById('panel').hidden));
}

async function choosing(page) {
	const lines = () => page.evaluate(() => ktr.view.lines.map(({ key }) => key)), all = await lines();
	const name = await page.evaluate(() => {
		ktr.draw();
		const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.below.length);
		return line && { x: box.left + 60, y: box.top + 26 + line.y - ktr.view.top + 10 };
	});
	await page.touchscreen.tap(name.x, name.y);
	check('a tap on a name folds', (await lines()).length < all.length, await lines());
	await page.touchscreen.tap(name.x, name.y);
	check('and unfolds', (await lines()).length === all.length, await lines());
	const words = await page.evaluate(() => {
		ktr.draw();
		const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.row >= 0 && !l.below.length);
		return { key: line.key, at: wordsOf(line).map(({ text, x, wide }) => [text, box.left + x + wide / 2, box.top + 26 + line.y - ktr.view.top + line.height / 2]) };
	});
	const hide = words.at.find(([text]) => text === 'hide');
	await page.touchscreen.tap(hide[1], hide[2]);
	check('nothing is hidden by what is not seen', (await lines()).includes(words.key), await lines());
	await page.touchscreen.tap(hide[1], hide[2]);
	check('a tap on hide', !(await lines()).includes(words.key), await lines());
	await page.tap('#hidden');
	check('and they are shown again', (await lines()).length === all.length, await lines());
	await page.tap('#by button[data-by=threads]');
	check('rows by thread', await page.evaluate(() => ktr.view.by) === 'threads');
	await page.tap('#by button[data-by=ids]');
	await page.tap('#search');
	await page.locator('#search').fill('kind == start');
	await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
	await page.tap('#drawer tbody tr');
	await page.waitForFunction(() => ktr.view.selected?.event >= 0);
	const first = await page.evaluate(() => ktr.view.selected.event);
	await page.waitForFunction(() => /^([\d,]+ of )?[\d,]+ hits · filter$/.test(document.getElementById('hits').textContent));
	await page.tap('#next');
	/* Behind the last one comes the first. */
	await page.waitForFunction((event) => ktr.view.selected?.event !== event, first);
}

const browser = await start();
const page = await openPage(browser, server, '', { hasTouch: true });
await page.evaluate(() => ktr.ready);
await light(page);
await looking(page);
await telling(page);
await choosing(page);
await page.close();
const flows = await openPage(browser, hand, '', { hasTouch: true });
await flows.evaluate(() => ktr.ready);
check('a tap on a scope', await tapBar(flows, 'hand', /^ask$/) === 'ask');
await flows.close();
await browser.close();
process.exit(failed() ? 1 : 0);
