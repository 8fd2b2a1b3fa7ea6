// SPDX-License-Identifier: BSD-2-Clause
// What ktr-timeline(1) says under "Beside other viewers", line by line: each point that it calls "yes" is done by mouse, by keys
// alone, and by touch alone, on a page that nothing was done with before, and judged by what is then on the screen. A line that
// nobody drives, or that is driven and is not in the manual, is a fault.
//
//	node points.mjs MANUAL KNOWN-PAGE HAND-PAGE SERVER-PAGE WORKERS-PAGE SAID-PAGE BUILDS-PAGE SCREENSHOTS
import { readFileSync } from 'node:fs';
import { check, failed, fields, light, openPage, start, written } from './browser.mjs';

const [manual, known, hand, server, workers, said, builds, shots] = process.argv.slice(2);
const GUTTER = 290, RULER = 26;

/* ---- hands: how each of them presses what is on the page, zooms, and comes to a bar ---- */

async function tabTo(page, selector, key = 'Tab') {
	for (let i = 0; i < 120; i++) {
		if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector))
			return;
		await page.keyboard.press(key);
	}
	check('keys reach ' + selector, false);
}

const middleOf = (page) => page.evaluate((gutter) => {
	const box = document.getElementById('plot').getBoundingClientRect();
	return { x: box.left + gutter + (box.width - gutter) / 2, y: box.top + 60 };
}, GUTTER);

async function touches(page, ...steps) {
	const client = await page.context().newCDPSession(page);
	for (const [i, at] of [...steps, []].entries())
		await client.send('Input.dispatchTouchEvent', { type: i === 0 ? 'touchStart' : at.length ? 'touchMove' : 'touchEnd', touchPoints: at.map(([x, y], id) => ({ x, y, id })) });
	await client.detach();
}

/* What lies around a bar is brought into sight, before a hand begins: {x, y, key: of its line, title}. */
const barNear = (page, { row, label, ns = 0 }) => page.evaluate(async ([row, label, least, gutter]) => {
	const named = (l) => l.row >= 0 && (l.key.includes(row)), { index } = ktr;
	for (let k = 0; k < index.chunks.length; k++) {
		const chunk = await ktr.chunkLater(k), { row: rows } = chunk.list('ids');
		for (let e = 0; e < chunk.n; e++) {
			const bar = rows[e] >= 0 && [1, 4].includes(index.kinds[chunk.site[e]]) && barOfEvent(chunk, e), line = bar && ktr.view.lines.find((l) => l.row === bar.row);
			if (!line || !named(line) || index.labels[bar.label] !== label)
				continue;
			const { to } = await ktr.ask('whole', bar), took = to - bar.from;
			if (took < least)
				continue;
			ktr.look(bar.from - took / 2, to + took / 2);
			ktr.draw();
			const box = document.getElementById('plot').getBoundingClientRect(), [y0, y1] = barPlace(line, bar);
			return { x: box.left + gutter + (box.width - gutter) * 0.6, y: box.top + yOf(line) + (y0 + y1) / 2, key: line.key, title: barName(bar), what: bar.what, begin: when(bar.from) };
		}
	}
	return null;
}, [row, label, ns, GUTTER]);

const told = (page, title) => page.waitForFunction((name) => document.querySelector('#panel h2')?.textContent === name && document.querySelector('#panel .rank'), title);

/* Up to the first line, and down to another one. */
async function keysToLine(page, key) {
	const now = () => page.evaluate(() => ktr.view.current);
	for (const way of ['ArrowUp', 'ArrowDown'])
		for (let i = 0; i < 40 && await now() !== key; i++)
			await page.keyboard.press(way);
	check('keys reach the line ' + key, await now() === key);
}

/* To the line, to its first bar, and into it, or to later ones, as far as needed. */
async function keysTo(page, bar) {
	await tabTo(page, '#plot');
	await keysToLine(page, bar.key);
	await page.keyboard.press('ArrowRight');
	for (let i = 0; i < 60; i++) {
		await page.waitForFunction(() => document.querySelector('#panel td.value'));
		const before = await page.textContent('#panel td.value');
		if (await page.textContent('#panel h2') === bar.title && before === bar.begin)
			return;
		await page.keyboard.press(bar.what === 'scope' ? 'ArrowDown' : 'ArrowRight');
		await page.waitForFunction((begin) => document.querySelector('#panel td.value').textContent !== begin, before);
	}
}

const hands = {
	mouse: {
		press: (page, selector) => page.click(selector),
		bar: (page, { x, y }) => page.mouse.click(x, y),
		zoom: async (page) => {
			const { x, y } = await middleOf(page);
			await page.mouse.move(x, y);
			await page.keyboard.down('Control');
			for (let i = 0; i < 3; i++)
				await page.mouse.wheel(0, -120);
			await page.keyboard.up('Control');
		},
	},
	keys: {
		press: async (page, selector) => {
			await tabTo(page, selector);
			await page.keyboard.press('Enter');
		},
		bar: keysTo,
		zoom: async (page) => {
			const now = () => page.evaluate(() => spanNow()), before = await now();
			for (let i = 0; i < 60 && await now() > before / 2; i++)
				await page.keyboard.press('w', { delay: 20 });
		},
	},
	touch: {
		press: (page, selector) => page.tap(selector),
		bar: (page, { x, y }) => page.touchscreen.tap(x, y),
		zoom: async (page) => {
			const { x, y } = await middleOf(page);
			await touches(page, ...[40, 60, 80, 100].map((wide) => [[x - wide, y], [x + wide, y]]));
		},
	},
};

async function select(by, page, wanted) {
	const bar = await barNear(page, wanted);
	await hands[by].bar(page, bar);
	await told(page, bar.title);
	return fields(page);
}

const rowNames = async (page) => (await written(page)).filter(({ x, y, right }) => x < 100 && y > RULER && !right).map(({ text }) => text).filter((text) => !/^[▸▾]$/.test(text));
const ms = (text) => {
	const [, number, unit] = /([\d.]+) (ns|µs|ms|s)\b/.exec(text) ?? [];
	return Number(number) * { ns: 1e-6, 'µs': 1e-3, ms: 1, s: 1000 }[unit];
};
const near = (text, want) => Math.abs(ms(text ?? '') - want) < 2;
const picture = (page) => written(page).then(() => page.evaluate(() => [...document.getElementById('plot').getContext('2d').getImageData(290, 26, 800, 300).data].join()));

/* The colours at a moment of the known page's first thread, level by level, and those that names have. */
const stacked = (page, at, names) => page.evaluate(([at, names]) => {
	ktr.draw();
	const line = ktr.view.lines.find((l) => l.text.startsWith('nest ') || l.key.includes('/nest ')), nest = ktr.view.lines.find((l) => l.row >= 0 && ktr.index.rows[l.row].kind === 3) ?? line;
	const pen = document.getElementById('plot').getContext('2d'), x = Math.round(xOf(at * 1e6));
	const seen = names.map((_, level) => [...pen.getImageData(x, Math.round(yOf(nest) + 2 + 16 * level + 13), 1, 1).data].slice(0, 3).join());
	const want = names.map((name) => ktr.index.colours[ktr.index.scopes.find((i) => ktr.index.labels[i] === name)]).map((c) => [c >> 16, c >> 8 & 255, c & 255].join());
	return { seen, want };
}, [at, names]);

/* ---- the points: what the manual calls them, on which page, and what a hand does; each says whether it is so ---- */

const parse = { row: 'nest', label: 'parse' }, second = { row: 'nest', label: 'read_all', ns: 0 };
const points = {
	'scopes nest as flame charts': [known, async (by, page) => {
		const { seen, want } = await stacked(page, 440, ['main', 'read_all', 'parse']), first = await select(by, page, parse);
		return seen.join(' ') === want.join(' ') && new Set(seen).size === 3 && first.title === 'parse' && first.parent === 'read_all';
	}],
	'names in bars, one colour each': [known, async (by, page) => {
		await page.setViewportSize({ width: 590, height: 700 });
		await page.waitForFunction(() => document.getElementById('plot').width < 600);
		const names = async () => (await written(page)).filter(({ x, text }) => x > GUTTER && text === 'parse');
		const before = await names();
		await hands[by].zoom(page);
		await page.waitForFunction(() => written.some(({ x, text }) => x > 290 && text === 'parse'));
		const { seen, want } = await stacked(page, 440, ['main', 'read_all', 'parse']);
		return before.length === 0 && (await names()).length === 1 && seen.join() === want.join();
	}],
	'begin, end, duration, arguments': [server, async (by, page) => {
		const of = await select(by, page, { row: 'connection', label: 'look up' });
		const key = await page.evaluate(() => [...document.querySelectorAll('#panel .arguments tr')].map((row) => row.cells[0].textContent + '=' + parseInt(row.cells[1].textContent, 10)));
		return / s/.test(of.begin) && / s/.test(of.end) && ms(of.duration) > 0 && /server/.test(of.where) && key.some((text) => /^key\w*=\d+$/.test(text));
	}],
	'own time, parent, children': [known, async (by, page) => {
		const inner = await select(by, page, parse);
		await hands[by].press(page, '#panel td button[title="the scope around it"]');
		await told(page, 'read_all');
		const outer = await fields(page);
		return near(inner.self, 100) && near(outer.self, 100) && outer.parent === 'main' && outer.children === 'parse 1 100 ms 100 ms';
	}],
	'place among its kind, histogram': [known, async (by, page) => {
		const of = await select(by, page, second), mine = await page.evaluate(() => document.querySelector('#panel .histogram rect.mine').getBoundingClientRect());
		return /longest of 2 read_all$/.test(of.rank) && mine.height > 10 && mine.width > 3 && mine.right < 1200;
	}],
	'longest, next, previous of a kind': [known, async (by, page) => {
		const go = async (key) => {
			if (by === 'keys')
				await page.keyboard.press(key);
			else
				await hands[by].press(page, `#panel .kind button[data-key="${key}"]`);
		}, begins = (at) => page.waitForFunction((want) => Math.abs(parseFloat(document.querySelector('#panel td.value')?.textContent.replace(/ /g, '')) - want) < 0.002 &&
			document.querySelector('#panel .rank'), at);
		await select(by, page, second);
		await go('.');
		await begins(0.3);
		await go(',');
		await begins(0.1);
		await go('l');
		return page.waitForFunction(() => /^the longest of 2/.test(document.querySelector('#panel .rank')?.textContent));
	}],
	'numbers of a range by name': [known, async (by, page) => {
		if (by === 'mouse') {
			const x = await page.evaluate(() => [290, 510].map((at) => document.getElementById('plot').getBoundingClientRect().left + xOf(at * 1e6))), { y } = await middleOf(page);
			await page.mouse.move(x[0], y);
			await page.mouse.down();
			await page.mouse.move(x[1], y, { steps: 4 });
			await page.mouse.up();
		} else {
			await select(by, page, { row: 'nest', label: 'main' });
			if (by === 'keys')
				await page.keyboard.press('m');
			else
				await hands[by].press(page, '#panel .steps button[data-key=m]');
		}
		await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
		const rows = await page.evaluate(() => [...document.querySelectorAll('#drawer tbody tr')].map((row) => [...row.cells].map((c) => c.textContent)));
		const of = rows.find(([name]) => name === 'parse');
		return of?.[1] === '1' && near(of[2], 100) && near(of[3], 100) && near(of[7], 100);
	}],
	'... by thread, state, class, site': [workers, async (by, page) => {
		const heads = [];
		await select(by, page, { row: 'workers (', label: 'round' });
		if (by === 'keys')
			await page.keyboard.press('m');
		else
			await hands[by].press(page, '#panel .steps button[data-key=m]');
		await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
		for (const tab of ['threads', 'states', 'classes', 'sites']) {
			await hands[by].press(page, `#drawer button[data-tab=${tab}]`);
			heads.push(await page.evaluate(() => document.querySelectorAll('#drawer tbody tr').length > 0 && document.querySelector('#drawer th').textContent));
		}
		return heads.join() === 'thread,row,class,call site';
	}],
	'hover in every view': [known, async (by, page) => {
		const out = [];
		for (const view of ['1', '2', '3']) {
			if (by === 'keys')
				await page.keyboard.press(view);
			else
				await hands[by].press(page, `#by button[data-key="${view}"]`);
			await page.waitForFunction((key) => document.querySelector(`#by button[data-key="${key}"]`).ariaPressed === 'true', view);
			if (view === '3') {
				/* Whatever event is there. */
				const at = await page.evaluate(async () => {
					const chunk = await ktr.chunkLater(0), e = chunk.n >> 1;
					ktr.look(chunk.time[e] - 1000, chunk.time[e] + 1000);
					ktr.draw();
					const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.row === chunk.list('cpus').row[e]);
					return { x: box.left + xOf(chunk.time[e]), y: box.top + yOf(line) + line.height / 2, key: line.key, text: saidOf(chunk, e) };
				});
				/* Read aloud is the bar that it begins. */
				out.push(await pointed(by, page, at, by === 'keys' ? ', ' + at.text.split(' ')[0] : at.text));
			} else {
				out.push(await pointed(by, page, await barNear(page, parse), 'parse'));
			}
			await page.keyboard.press('Escape');
		}
		return out.every(Boolean);
	}],
	'a link to what is seen': [known, async (by, page, browser) => {
		await hands[by].zoom(page);
		await page.waitForTimeout(50);
		if (by === 'keys')
			await page.keyboard.press('y');
		else
			await hands[by].press(page, '#link');
		const link = await page.waitForFunction(() => /#view=.*/.exec(document.getElementById('said').textContent)?.[0]).then((h) => h.jsonValue());
		const other = await openPage(browser, known, link), seen = async (of) => (await written(of)).filter(({ y }) => y > RULER).map(({ text }) => text).join();
		await other.evaluate(() => ktr.ready);
		await light(other);
		await page.mouse.move(1, 1);
		const [a, b] = [await seen(page), await seen(other)];
		await other.close();
		return (a.length > 50 && a === b) || check('written there: ' + b, false, a);
	}],
	'back and forward': [known, async (by, page) => {
		const all = await rowNames(page), line = await lineAt(page, 0);
		await page.waitForFunction(() => location.hash.length > 1);
		if (by === 'keys') {
			await tabTo(page, '#plot');
			await page.keyboard.press('ArrowDown');
			await page.keyboard.press('Enter');
		} else {
			await hands[by].bar(page, line);
		}
		await page.waitForFunction(() => location.hash.includes('fold='));
		const folded = await rowNames(page);
		await page.goBack();
		await page.waitForFunction(() => !location.hash.includes('fold='));
		const back = await rowNames(page);
		await page.goForward();
		await page.waitForFunction(() => location.hash.includes('fold='));
		return folded.length < all.length && back.join() === all.join() && (await rowNames(page)).join() === folded.join();
	}],
	'notes': [known, async (by, page) => {
		await select(by, page, parse);
		if (by === 'keys')
			await page.keyboard.press('o');
		else
			await hands[by].press(page, '#panel .steps button[data-key=o]');
		await page.keyboard.type('look here');
		await page.keyboard.press('Enter');
		return (await written(page)).some(({ text, y }) => text === 'look here' && y < RULER);
	}],
	'search by expression, listed': [known, async (by, page) => {
		if (by === 'keys')
			await page.keyboard.press('/');
		else
			await hands[by].press(page, '#search');
		await page.keyboard.type('kind == start and func == parse');
		await page.waitForFunction(() => document.getElementById('hits').textContent === '1 hit · filter' && document.querySelectorAll('#drawer tbody tr').length === 1);
		if (by === 'keys')
			await page.keyboard.press('Enter');
		else
			await hands[by].press(page, '#drawer tbody tr');
		await told(page, 'parse');
		return true;
	}],
	'wheel, pinch, w a s d': [known, async (by, page) => {
		const seen = () => page.textContent('#range').then((text) => ms(text)), before = await seen(), texts = async () => (await written(page)).filter(({ y }) => y < RULER).map(({ text }) => text).join();
		await hands[by].zoom(page);
		await page.waitForFunction(([text]) => document.getElementById('range').textContent !== text, [await page.textContent('#range')], { timeout: 500 }).catch(() => {});
		const after = await seen(), ruler = await texts(), { x, y } = await middleOf(page);
		const from = await page.evaluate(() => ktr.view.from);
		if (by === 'mouse') {
			await page.keyboard.down('Shift');
			await page.mouse.wheel(0, 300);
			await page.keyboard.up('Shift');
		} else if (by === 'keys') {
			await page.keyboard.down('d');
			await page.waitForFunction((before) => ktr.view.from > before + spanNow() / 5, from);
			await page.keyboard.up('d');
		} else {
			await touches(page, [[x, y]], [[x - 50, y]], [[x - 300, y]]);
		}
		await page.waitForFunction((before) => ktr.view.from > before && !ktr.frames.asked, from);
		return after < before / 1.9 && Math.abs(await seen() - after) < after / 100 && await texts() !== ruler;
	}],
	'map of the whole': [known, async (by, page) => {
		/* What is dark at the strip's lower edge is the frame around what is in sight. */
		const frame = async () => {
			await written(page);
			return page.evaluate(() => {
				const map = document.getElementById('map'), { data } = map.getContext('2d').getImageData(290, map.height - 1, map.width - 290, 1), at = [];
				for (let x = 0; x < data.length / 4; x++)
					if (data[4 * x] < 110 && data[4 * x + 2] < 110)
						at.push(x / (map.width - 290));
				return [at[0], at.at(-1)];
			});
		};
		await page.evaluate(() => ktr.look(ktr.index.span * 0.4, ktr.index.span * 0.5));
		const before = await frame(), box = await page.locator('#map').boundingBox(), x = (share) => box.x + GUTTER + (box.width - GUTTER) * share;
		if (by === 'keys') {
			await page.keyboard.press('End');
		} else if (by === 'touch') {
			await page.touchscreen.tap(x(0.95), box.y + 10);
		} else {
			await page.mouse.move(x(0.45), box.y + 10);
			await page.mouse.down();
			await page.mouse.move(x(0.95), box.y + 10, { steps: 5 });
			await page.mouse.up();
		}
		const after = await frame();
		return Math.abs(before[0] - 0.4) < 0.02 && Math.abs(before[1] - 0.5) < 0.02 && Math.abs((after[0] + after[1]) / 2 - 0.95) < 0.02;
	}],
	'axis from a round moment, wall clock': [known, async (by, page) => {
		await page.evaluate(() => ktr.look(4e8, 4e8 + 1e6));
		await hands[by].zoom(page);
		await page.waitForFunction(() => spanNow() < 6e5 && !ktr.frames.asked);
		const ruler = (await written(page)).filter(({ y }) => y < RULER).map(({ text }) => text);
		return ruler.some((text) => /^0\.4\d* s$/.test(text)) && ruler.filter((text) => /^\+ [\d.]+ (µs|ns|ms)$/.test(text)).length > 2 &&
			/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d/.test(await page.evaluate(() => window.writtenMap));
	}],
	'counters, exact values': [said, async (by, page) => {
		const at = await page.evaluate(() => {
			ktr.draw();
			const line = ktr.view.lines.find((l) => l.text === 'exact'), box = document.getElementById('plot').getBoundingClientRect();
			return { x: box.left + box.width * 0.7, y: box.top + yOf(line) + line.height / 2, key: line.key };
		});
		return pointed(by, page, at, '9223372036854788153');
	}],
	'fold, pin, hide, sort rows': [server, async (by, page) => {
		const all = await rowNames(page), word = async (text) => page.evaluate((wanted) => {
			ktr.draw();
			const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.row >= 0 && !l.below.length);
			const { x, wide } = wordsOf(line).find((one) => one.text === wanted);
			return { line: { x: box.left + 60, y: box.top + yOf(line) + line.height / 2 }, x: box.left + x + wide / 2, y: box.top + yOf(line) + line.height / 2, key: line.key };
		}, text);
		const onLine = async (text, key) => {
			const at = await word(text);
			if (by === 'keys') {
				await keysToLine(page, at.key);
				return page.keyboard.press(key);
			}
			/* What is beside a name is seen once it is pointed at, or tapped. */
			await (by === 'mouse' ? page.mouse.move(at.line.x, at.line.y) : page.touchscreen.tap(at.line.x, at.line.y));
			return hands[by].bar(page, at);
		};
		await onLine('hide', 'x');
		const hidden = await rowNames(page);
		await hands[by].press(page, '#hidden');
		const shown = await rowNames(page);
		if (by === 'keys')
			await tabTo(page, '#plot');
		await onLine('pin', 'p');
		const pinned = await rowNames(page);
		if (by === 'keys')
			await page.keyboard.press('b');
		else
			await page.selectOption('#sort', 'name');
		const sorted = await rowNames(page);
		if (by === 'keys')
			await page.keyboard.press('-');
		else
			await hands[by].bar(page, await lineAt(page, 0));
		const folded = await rowNames(page);
		return hidden.length === all.length - 1 && shown.join() === all.join() && pinned.join() !== all.join() && sorted.length === all.length && folded.length < sorted.length &&
			await page.evaluate(() => document.getElementById('sort').value) === 'name';
	}],
	'flows': [hand, async (by, page) => {
		if (by === 'keys')
			await page.keyboard.press('2');
		else
			await hands[by].press(page, '#by button[data-key="2"]');
		/* The event that hands the job on, whose argument it is, on its thread's row. */
		const at = await page.evaluate(async () => {
			const chunk = await ktr.chunkLater(0), e = [...chunk.site].findIndex((s) => ktr.index.sites[s].args[0]?.name === 'flow');
			ktr.look(chunk.time[e] - 500, chunk.time[e] + 500);
			ktr.draw();
			const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.row < 0 && l.marks === chunk.list('threads').row[e]);
			return { x: box.left + xOf(chunk.time[e]), y: box.top + yOf(line) + line.height / 2, key: line.key };
		});
		if (by === 'keys') {
			await tabTo(page, '#plot');
			await keysToLine(page, at.key);
			for (let i = 0; i < 4 && !await page.evaluate(() => document.querySelector('#panel .arguments button[title^=arrows]')); i++) {
				await page.keyboard.press('ArrowRight');
				await page.waitForTimeout(100);
			}
		} else {
			await hands[by].bar(page, at);
		}
		await page.waitForFunction(() => document.querySelector('#panel .arguments button[title^=arrows]'));
		await page.evaluate(() => ktr.look(0, ktr.index.span));
		const on = await picture(page);
		await hands[by].press(page, '#panel .arguments button[title^=arrows]');
		const off = await picture(page);
		await hands[by].press(page, '#panel .arguments button[title^=arrows]');
		const again = await picture(page);
		return on !== off && on === again;
	}],
	'who held the lock': [workers, async (by, page) => {
		await select(by, page, { row: 'worker 3', label: 'waiting', ns: 2e7 });
		const path = await page.waitForFunction(() => document.querySelector('#panel .around table')?.innerText).then((h) => h.jsonValue());
		return /worker \d \(\d+\)\s+[\d.]+ ms had lock 0x/.test(path);
	}],
	'two traces compared': [builds, async (by, page) => {
		await page.waitForFunction(() => document.querySelector('#drawer tbody tr'));
		const headline = await page.textContent('#headline'), at = await page.evaluate(async (gutter) => {
			const { ktr: of, window } = compare.sides.A, chunk = await of.chunkLater(0), e = [...chunk.site].findIndex((s, i) => of.index.sites[s].func === 'parse' && i > 200);
			compare.state.leader = compare.sides.A;
			of.look(chunk.time[e] - 5e4, chunk.time[e] + 3e5);
			of.draw();
			const frame = document.getElementById('frameA').getBoundingClientRect(), box = window.document.getElementById('plot').getBoundingClientRect();
			const line = of.view.lines.find((l) => l.row >= 0 && of.index.rows[l.row].kind === 3);
			return { x: frame.left + box.left + window.xOf(chunk.time[e] + 4e4), y: frame.top + box.top + 26 + line.y - of.view.top + 26 };
		}, GUTTER);
		if (by === 'keys') {
			await tabTo(page, '#frameA', 'Shift+Tab');
			for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight'])
				await page.keyboard.press(key);
		} else {
			await hands[by].bar(page, at);
		}
		await page.waitForFunction(() => compare.sides.A.ktr.view.selected?.bar && document.querySelectorAll('#drawer svg rect').length === 30);
		if (by === 'keys')
			await page.keyboard.press('=');
		else
			await hands[by].press(page, '#align');
		await page.waitForFunction(() => / lies above B [\d.]+ \S+ (earlier|later)$/.test(document.getElementById('aligned').textContent));
		return /Most of it: parse, \+/.test(headline);
	}],
};

/* Pointing, or what stands for it: keys have it read aloud, a tap fills the panel. */
async function pointed(by, page, at, text) {
	const says = (id) => page.waitForFunction(([node, words]) => { const { hidden, textContent } = document.getElementById(node); return !hidden && textContent.includes(words); }, [id, text]);
	if (by === 'mouse') {
		await page.mouse.move(at.x, at.y);
		return says('tip');
	}
	if (by === 'touch') {
		await page.touchscreen.tap(at.x, at.y);
		return says('panel');
	}
	await tabTo(page, '#plot');
	await keysToLine(page, at.key);
	await page.keyboard.press('ArrowRight');
	for (let i = 0; i < 6 && !(await page.textContent('#live')).includes(text); i++) {
		await page.waitForTimeout(100);
		if (i === 2 || i === 4)
			await page.keyboard.press('ArrowDown');
	}
	return says('live');
}

/* The name of the n-th line that something lies below. */
const lineAt = (page, n) => page.evaluate((number) => {
	ktr.draw();
	const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.filter((l) => l.below.length)[number];
	return { x: box.left + 60, y: box.top + yOf(line) + line.height / 2 };
}, n);

/* [name, yes or part or no] of the manual's lines. */
const lines = readFileSync(manual, 'utf8').split('.Ss Beside other viewers')[1].split('.El')[0].split('\n').filter((line) => line.startsWith('.It '))
	.map((line) => line.slice(4).replace(/^\\&/, '').split(' Ta ').slice(0, 2));

const browser = await start(), only = process.env.POINT;
let yes = 0;
for (const [name, so] of lines) {
	const [file, drive] = points[name] ?? [], did = {};
	check('the manual says yes or part of ' + name, so === 'yes' || so === 'part');
	if (so !== 'yes' || (only && !name.includes(only)))
		continue;
	check('somebody drives ' + name, drive);
	for (const by of drive ? Object.keys(hands) : []) {
		const page = await openPage(browser, file, '', { hasTouch: true });
		page.setDefaultTimeout(60000);
		await page.evaluate(() => (window.ktr ?? window.compare).ready);
		if (await page.evaluate(() => Boolean(window.ktr)))
			await light(page);
		did[by] = await drive(by, page, browser).catch((error) => check(`${name}, ${by}`, false, error.message.slice(0, 300)));
		check(`${name}, ${by}`, did[by]);
		await page.screenshot({ path: `${shots}/point-${lines.findIndex(([one]) => one === name) + 1}-${by}.png` });
		await page.close();
	}
	yes += Object.values(did).filter(Boolean).length === 3;
	console.log(`${name}: ${Object.entries(did).map(([by, well]) => by + ' ' + (well ? 'yes' : 'no')).join(', ')}`);
}
const foreign = Object.keys(points).filter((name) => !lines.some(([one, so]) => one === name && so === 'yes'));
check('points that the manual does not call yes', foreign.length === 0, foreign);
check('22 points, 20 of them yes', lines.length === 22 && (yes >= 20 || only), [lines.length, yes]);
await browser.close();
process.exit(failed() ? 1 : 0);
