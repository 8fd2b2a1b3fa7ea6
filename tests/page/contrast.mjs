// SPDX-License-Identifier: BSD-2-Clause
// Every text on the page, in the light and in the dark, has the contrast to what is behind it that the WCAG asks for (AA, 1.4.3:
// 4.5 to 1), with the panel, the drawer, the list of keys, notes, a search and a range open: of elements by their styles, of
// what is written on the plot by the pixels around it.
//
//	node contrast.mjs SCREENSHOTS PAGE...
import { check, failed, openPage, start, written } from './browser.mjs';

const [shots, ...files] = process.argv.slice(2);

function light([r, g, b]) {
	const part = (byte) => byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4;
	return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}

function contrast(a, b) {
	const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

/* [text, colour, ground] of each element that has text of its own and is seen. */
const elements = (page) => page.evaluate(() => {
	const parse = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number), out = [];
	const ground = (node) => {
		for (; node; node = node.parentElement) {
			const [r, g, b, a = 1] = parse(getComputedStyle(node).backgroundColor);
			if (a > 0)
				return [r, g, b];
		}
		return [255, 255, 255];
	};
	for (const node of document.querySelectorAll('body *')) {
		const text = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim()).join('') || node.placeholder;
		if (!text || node.disabled || !node.checkVisibility() || ['SCRIPT', 'NOSCRIPT', 'OPTION'].includes(node.tagName))
			continue;
		const style = getComputedStyle(node, node.placeholder && !node.value ? '::placeholder' : null);
		out.push([node.tagName + ' ' + text.slice(0, 40), parse(style.color).slice(0, 3), ground(node)]);
	}
	return out;
});

/* The same of what is written on the plot; its ground is the colour that most pixels around it have. */
async function plot(page) {
	await written(page);
	return page.evaluate(() => {
		const pen = document.getElementById('plot').getContext('2d');
		return window.written.filter(({ text, x, wide }) => text.trim() && wide > 0 && x + wide <= pen.canvas.width).map(({ text, x, y, wide, align, colour }) => {
			const from = align === 'right' ? x - wide : align === 'center' ? x - wide / 2 : x, count = new Map();
			const { data } = pen.getImageData(Math.round(from), Math.round(y) - 6, Math.ceil(wide), 12);
			for (let i = 0; i < data.length; i += 4) {
				const pixel = data.slice(i, i + 3).join();
				count.set(pixel, (count.get(pixel) ?? 0) + 1);
			}
			const most = [...count].sort((a, b) => b[1] - a[1])[0][0];
			return ['plot ' + text, [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)), most.split(',').map(Number)];
		});
	});
}

async function look(page, what) {
	const texts = [...await elements(page), ...await plot(page)];
	for (const [text, colour, ground] of texts)
		check(`${what}: ${text}`, contrast(colour, ground) >= 4.5, [colour, ground, contrast(colour, ground)]);
	return texts.length;
}

const browser = await start();
for (const file of files)
	for (const dark of [false, true]) {
		const page = await openPage(browser, file, '#note=' + encodeURIComponent('33000000 a note')), what = dark ? 'dark' : 'light';
		await page.evaluate(() => ktr.ready);
		await page.evaluate((is) => (document.documentElement.dataset.theme === 'dark') !== is && document.getElementById('theme').click(), dark);
		let n = 0;
		for (const key of ['1', '2', '3']) {
			await page.keyboard.press(key);
			n += await look(page, what + ', rows ' + key);
		}
		await page.keyboard.press('2');
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('ArrowRight');
		await page.waitForFunction(() => /longest|only/.test(document.querySelector('#panel .rank')?.textContent));
		await page.keyboard.press('/');
		await page.locator('#search').fill('class == vm or class == http');
		await page.waitForFunction(() => ktr.search.done && document.querySelector('#drawer tbody tr'));
		n += await look(page, what + ', panel and hits');
		await page.screenshot({ path: `${shots}/contrast-${what}.png` });
		await page.locator('#plot').focus();
		await page.keyboard.press('m');
		await page.waitForFunction(() => document.querySelector('#drawer #report').textContent);
		await page.keyboard.press('?');
		n += await look(page, what + ', numbers and keys');
		check('texts', n > 150, n);
		await page.close();
	}
await browser.close();
process.exit(failed() ? 1 : 0);
