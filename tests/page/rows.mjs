// SPDX-License-Identifier: BSD-2-Clause
// Rows fold, are pinned, hidden, chosen by name and sorted, by mouse and by keys, and the page's address has it; arrows go
// from row to row and from bar to bar. What rows there are is told by the names that are written on the plot, and by bars'
// colours.
//
//	node rows.mjs SERVER-PAGE KNOWN-PAGE TURNS-PAGE SCREENSHOTS
import { check, failed, fields, light, openPage, start, written } from './browser.mjs';

const [server, known, turns, shots] = process.argv.slice(2);
const GUTTER = 290, RULER = 26;

/* The rows on the screen, from above: {name, remark, y}. */
async function rows(page) {
	const texts = (await written(page)).filter(({ x, y }) => x < GUTTER && y > RULER), at = (y) => texts.filter((t) => Math.abs(t.y - y) < 1);
	return texts.filter(({ text, right, x }) => !right && x < 100 && !/^[▸▾]$/.test(text)).sort((a, b) => a.y - b.y)
		.map(({ text, y }) => ({ name: text, y, remark: at(y).find((t) => t.right)?.text, fold: at(y).find((t) => /^[▸▾]$/.test(t.text))?.text,
			words: at(y).filter((t) => /^(un)?pin$|^hide$/.test(t.text)).map(({ text: word, x }) => ({ word, x })) }));
}

const names = async (page) => (await rows(page)).map((row) => row.name);
const rowOf = async (page, name, n = 0) => (await rows(page)).filter((row) => row.name === name)[n];

async function same(what, page, want) {
	const got = await names(page);
	check(what, got.join() === want.join(), [got, want]);
}

async function pointAt(page, row, x = 60) {
	const box = await page.locator('#plot').boundingBox();
	await page.mouse.move(box.x + x, box.y + row.y);
}

async function clickName(page, name, n = 0) {
	await pointAt(page, await rowOf(page, name, n));
	await page.mouse.down();
	await page.mouse.up();
}

/* What stands beside a name while it is pointed at. */
async function clickWord(page, word, name, n = 0) {
	await pointAt(page, await rowOf(page, name, n));
	const place = (await rowOf(page, name, n)).words.find((one) => one.word === word);
	check(`${word} is beside ${name}`, place, await rowOf(page, name, n));
	await pointAt(page, await rowOf(page, name, n), place.x + 3);
	await page.mouse.down();
	await page.mouse.up();
}

const address = (page, wanted) => page.waitForFunction((text) => decodeURIComponent(location.hash).includes(text), wanted)
	.catch(() => check('in the address: ' + wanted, false, page.url()));

/* The share of a stretch of pixels at a row's height that bars fill. */
const filled = (page, y) => page.evaluate((at) => {
	const pen = document.getElementById('plot').getContext('2d'), { data } = pen.getImageData(300, at, 800, 1);
	let n = 0;
	for (let i = 0; i < data.length; i += 4)
		n += data[i] < 200 && data[i + 2] > 150;
	return n / 800;
}, Math.round(y));

async function folding(page, all) {
	const [, first] = all;
	await clickName(page, first);
	await same('a click folds', page, [all[0], first, ...all.slice(3)]);
	check('a folded row says so', (await rowOf(page, first)).fold === '▸', await rowOf(page, first));
	await address(page, 'fold=' + all[0].replace(/ /g, '+') + '/' + first.replace(/ /g, '+'));
	await page.keyboard.press('Enter');
	await same('enter unfolds', page, all);
	await page.waitForFunction(() => !location.hash.includes('fold='));
	await page.goBack();
	await page.waitForFunction(() => ktr.chosen.fold.size === 1);
	await same('back folds again', page, [all[0], first, ...all.slice(3)]);
	await page.goForward();
	await page.waitForFunction(() => ktr.chosen.fold.size === 0);
	await same('forward unfolds', page, all);
	await page.keyboard.press('-');
	await same('everything folds', page, [all[0]]);
	await page.keyboard.press('-');
	await same('and unfolds', page, all);
	await clickName(page, all[0]);
	await same('a click folds a group', page, [all[0]]);
	const box = await page.locator('#plot').boundingBox();
	await page.mouse.move(box.x + 600, box.y + 400);
	await page.keyboard.press('Escape');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await same('enter unfolds a group', page, all);
}

async function pinning(page, all) {
	const pinned = all[3] + ' scope', rest = all.filter((_, i) => i !== 4);
	await clickWord(page, 'pin', 'scope', 1);
	await same('pinned above the others', page, [pinned, ...rest]);
	const { y } = await rowOf(page, pinned);
	check('its bars are there', await filled(page, y) > 0.1, await filled(page, y));
	await page.setViewportSize({ width: 1200, height: 330 });
	await page.mouse.move(700, 200);
	for (let i = 0; i < 4; i++)
		await page.mouse.wheel(0, 200);
	await page.waitForFunction(() => ktr.view.top > 0);
	const [above, below] = await rows(page);
	check('it does not scroll', above.name === pinned && above.y === y && below.name !== all[0], [above, below]);
	check('and nothing covers it', await filled(page, y) > 0.1, await filled(page, y));
	await page.screenshot({ path: shots + '/rows-pinned.png' });
	await page.setViewportSize({ width: 1200, height: 800 });
	await address(page, '&pin=' + [all[0], all[3]].join('/').replace(/ /g, '+') + '/scope');
	await clickName(page, pinned);
	await page.keyboard.press('p');
	await same('p takes it back', page, all);
}

async function hiding(page, all) {
	await clickWord(page, 'hide', all[1]);
	await same('hidden', page, [all[0], ...all.slice(3)]);
	check('it says how many are hidden', await page.textContent('#hidden') === '1 hidden', await page.textContent('#hidden'));
	await page.click('#hidden');
	await same('shown again', page, all);
	await page.locator('#plot').focus();
	await page.keyboard.press('Home');
	await clickName(page, 'scope', 0);
	await page.keyboard.press('x');
	await same('x hides', page, all.filter((_, i) => i !== 2));
	await page.keyboard.press('X');
	await same('X shows', page, all);
}

async function choosing(page, all) {
	await page.keyboard.press('r');
	await page.keyboard.type(all[3].slice(-6, -1));
	await same('by name', page, [all[0], all[3], all[4]]);
	await page.keyboard.press('Enter');
	await address(page, 'names=' + all[3].slice(-6, -1));
	await page.keyboard.press('r');
	await page.keyboard.press('Escape');
	await same('all names', page, all);
}

/* Three threads of `nest turns`: who begins first, how busy they are, and their names are three orders. */
async function sorting(browser) {
	const page = await openPage(browser, turns), order = async () => (await names(page)).filter((name) => / \(\d+\)$/.test(name)).map((name) => name.split(' ')[0]).join();
	await page.evaluate(() => ktr.ready);
	const all = await names(page);
	await page.selectOption('#sort', 'first');
	check('by their first event', await order() === 'beta,gamma,alpha', await order());
	await page.selectOption('#sort', 'busy');
	check('by how busy they are', await order() === 'gamma,alpha,beta', await order());
	await address(page, 'sort=busy');
	await page.selectOption('#sort', 'name');
	check('by name', await order() === 'alpha,beta,gamma', await order());
	await page.locator('#plot').focus();
	await page.keyboard.press('b');
	await page.keyboard.press('b');
	check('b goes on to the first event', await order() === 'beta,gamma,alpha', await order());
	await page.keyboard.press('b');
	await same('and to the order in which they come', page, all);
	await page.close();
}

/* Another page that is opened at the address shows the same rows. */
async function linking(page, browser) {
	await page.selectOption('#sort', 'busy');
	await clickWord(page, 'pin', 'scope', 2);
	await clickWord(page, 'hide', 'server ' + (await rows(page))[1].name.slice(7));
	await address(page, 'hide=');
	const want = await names(page), other = await openPage(browser, server, new URL(page.url()).hash);
	await other.evaluate(() => ktr.ready);
	await other.waitForFunction(() => !document.getElementById('hidden').hidden);
	await same('a link has the rows', other, want);
	await other.screenshot({ path: shots + '/rows.png' });
	await other.close();
}

/* Arrows: rows, bars of a row and level, into a scope and out of it; the selected bar has a frame. */
async function stepping(browser) {
	const page = await openPage(browser, known);
	await page.evaluate(() => ktr.ready);
	await light(page);
	await page.locator('#plot').focus();
	for (const [key, title, begin] of [['ArrowDown'], ['ArrowDown'], ['ArrowRight', 'main', 0], ['ArrowDown', 'read_all', 0.1], ['ArrowRight', 'read_all', 0.3],
		['ArrowDown', 'parse', 0.35], ['ArrowUp', 'read_all', 0.3], ['ArrowRight', 'attempt', 0.6 - 0.1], ['ArrowLeft', 'read_all', 0.3], ['ArrowUp', 'main', 0],
		['ArrowUp'], ['ArrowDown'], ['End'], ['f']]) {
		await page.keyboard.press(key);
		if (!title)
			continue;
		await page.waitForFunction(([name, at]) => document.querySelector('#panel h2')?.textContent === name &&
			Math.abs(ktr.view.selected?.bar?.from / 1e9 - at) < 0.002, [title, begin]).catch(() => {});
		const told = await fields(page), live = await page.waitForFunction((name) => document.getElementById('live').textContent.includes(name + ': ') &&
			document.getElementById('live').textContent, title).then((h) => h.jsonValue(), () => page.textContent('#live'));
		check(`${key} goes to ${title}`, told.title === title && Math.abs(parseFloat(told.begin.replace(/ /g, '')) - begin) < 0.002, told);
		check('it is told', live.includes(title + ': '), live);
	}
	const frame = await page.evaluate(() => {
		ktr.draw();
		const { bar, line } = ktr.view.selected, canvas = document.getElementById('plot'), pen = canvas.getContext('2d');
		const mark = getComputedStyle(document.documentElement).getPropertyValue('--mark').trim();
		const x = 290 + (bar.to + bar.from - 2 * ktr.view.from) / 2 / (ktr.view.to - ktr.view.from) * (canvas.width - 290), y = 26 + line.y - ktr.view.top + 2;
		const hex = (at) => '#' + [...pen.getImageData(Math.round(x), at, 1, 1).data].slice(0, 3).map((c) => c.toString(16).padStart(2, '0')).join('');
		return { mark, above: [y - 1, y].map(hex), outline: getComputedStyle(canvas).outlineStyle + getComputedStyle(canvas).outlineWidth };
	});
	check('the bar has a frame', frame.above.includes(frame.mark), frame);
	check('the plot has one, too', frame.outline === 'solid2px', frame);
	await page.screenshot({ path: shots + '/steps.png' });
	await page.close();
}

const browser = await start();
const page = await openPage(browser, server);
await page.evaluate(() => ktr.ready);
await light(page);
await page.keyboard.press('2');
await page.waitForFunction(() => ktr.view.by === 'threads');
const all = await names(page);
check('rows of the server', all.length === 10 && all[2] === 'scope' && all[1].startsWith('connection ('), all);
await folding(page, all);
await pinning(page, all);
await hiding(page, all);
await choosing(page, all);
await sorting(browser);
await linking(page, browser);
await stepping(browser);
await browser.close();
process.exit(failed() ? 1 : 0);
