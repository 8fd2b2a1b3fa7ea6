// SPDX-License-Identifier: BSD-2-Clause
// A page of more parts than it draws from events: what is under the pointer is told in its first view, too, and a click
// there selects it. Wheel, keys with shift, fingers, the map; searches by expressions, which the worker counts and lists,
// beside what `ktr json --filter` finds; and a page that opens around a moment, with the link that the command prints.
//
//	node views.mjs KTR TRACE PAGE LONG-PAGE SCREENSHOTS
import { execFileSync } from 'node:child_process';
import { check, failed, light, openPage, start, written } from './browser.mjs';

const [ktr, trace, file, long, shots] = process.argv.slice(2);

/* Where on the screen a row is, by how its line begins, at a share of the plot. */
const rowPlace = (page, text, share) => page.evaluate(([text, share]) => {
	ktr.draw();
	const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.row >= 0 && l.text.startsWith(text));
	return { x: box.left + 290 + share * (box.width - 290), y: box.top + 26 + line.y - ktr.view.top + line.height / 2 };
}, [text, share]);

async function firstView(page) {
	const detail = await page.evaluate(() => ktr.sightOf(ktr.view.from, ktr.view.to).detail);
	check('the first view is of the overview', detail === false, detail);
	await page.evaluate(() => { ktr.flow.name = 'n'; ktr.draw(); });
	check('it has no flows, and says so', (await written(page)).some(({ text }) => text === 'zoom in for all flows'));
	await page.evaluate(() => { ktr.flow.name = ''; });
	for (const share of [0.1, 0.5]) {
		const at = await rowPlace(page, 'worker 2', share);
		await page.mouse.move(at.x, at.y);
		const tip = await page.waitForFunction(() => /^worker 2: (idle|reading|parsing|waiting|writing|at least)|^[a-z]+ \d+ % here/
			.test(document.getElementById('tip').textContent) && document.getElementById('tip').textContent).catch(() => null);
		check('pointing at ' + share, tip, await page.textContent('#tip'));
		await page.mouse.click(at.x, at.y);
		const title = await page.waitForFunction(() => /^worker 2: /.test(document.querySelector('#panel h2')?.textContent) &&
			document.querySelector('#panel .rank')?.textContent).then((h) => h.jsonValue(), () => null);
		check('a click at ' + share, /^(the |\d[\d,]*(st|nd|rd|th) )longest of [\d,]+ worker: /.test(title), [title, await page.textContent('#panel')]);
		const away = await page.evaluate((share) => {
			const bar = ktr.view.selected?.bar, time = share * ktr.index.span;
			return bar ? Math.max(bar.from - time, time - bar.to) / ktr.index.span : 1;
		}, share);
		check('it is where the pointer is', away < 0.01, away);
		await page.keyboard.press('Escape');
	}
	await page.keyboard.press('2');
	/* Where a row of points has one, from the middle on. */
	const at = await page.evaluate(async () => {
		ktr.draw();
		const box = document.getElementById('plot').getBoundingClientRect(), line = ktr.view.lines.find((l) => l.text === 'done worker 0');
		const row = line.marks >= 0 ? line.marks : line.row, what = ktr.index.rows[row].kind === 0 ? 'ids' : 'threads';
		for (let k = ktr.index.chunks.length >> 1; k < ktr.index.chunks.length; k++) {
			const chunk = await ktr.chunkLater(k), { start, order } = chunk.list(what);
			if (start[row] < start[row + 1])
				return { x: box.left + 290 + (box.width - 290) * chunk.time[order[start[row]]] / ktr.index.span,
					y: box.top + 26 + line.y - ktr.view.top + line.height / 2 };
		}
		return null;
	});
	await page.mouse.click(at.x, at.y);
	await page.waitForFunction(() => !document.getElementById('panel').hidden);
	await page.keyboard.press('Escape');
	await page.keyboard.press('1');
}

const seen = (page) => page.evaluate(() => [ktr.view.from, ktr.view.to, ktr.view.top]);

async function moving(page) {
	const at = await rowPlace(page, 'worker 2', 0.5), base = await page.evaluate(() => { ktr.look(0, ktr.index.span); return ktr.index.span; });
	await page.mouse.move(at.x, at.y);
	await page.mouse.wheel(0, 120);
	const [, , top] = await seen(page);
	let [from, to] = await seen(page);
	check('the wheel does not zoom', to - from === base, [from, to, top]);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, -300);
	await page.keyboard.up('Control');
	await page.waitForFunction((span) => ktr.view.to - ktr.view.from < span * 0.8, base);
	[from, to] = await seen(page);
	await page.keyboard.down('Shift');
	await page.mouse.wheel(0, 200);
	await page.keyboard.up('Shift');
	await page.waitForFunction((a) => ktr.view.from > a, from);
	/* Shift and a drag move; a drag alone chooses a range. */
	[from, to] = await seen(page);
	await page.keyboard.down('Shift');
	await page.mouse.down();
	await page.mouse.move(at.x + 100, at.y, { steps: 3 });
	await page.mouse.up();
	await page.keyboard.up('Shift');
	check('shift and a drag move', (await seen(page))[0] < from, [from, await seen(page)]);
	check('and choose nothing', await page.evaluate(() => ktr.view.measure) === null);
	/* With shift keys move it faster: as far in less time. */
	await page.evaluate(() => ktr.look(ktr.index.span * 0.4, ktr.index.span * 0.5));
	await page.keyboard.down('Shift');
	await page.keyboard.down('D');
	await page.waitForFunction(() => ktr.view.from > ktr.index.span * 0.45);
	await page.keyboard.up('D');
	await page.keyboard.up('Shift');
	const held = await page.evaluate(() => ktr.held.size);
	check('keys are let go', held === 0, held);
	/* The map: what is in sight goes where it is clicked. */
	const box = await page.locator('#map').boundingBox();
	await page.mouse.click(box.x + 290 + (box.width - 290) * 0.8, box.y + 10);
	const middle = await page.evaluate(() => (ktr.view.from + ktr.view.to) / 2 / ktr.index.span);
	check('the map', Math.abs(middle - 0.8) < 0.01, middle);
	/* "2.1 s + 500 us": ticks count from a round moment, which stands beside them. */
	await page.evaluate(() => ktr.look(ktr.index.span * 0.5, ktr.index.span * 0.5 + 1e5));
	await page.waitForTimeout(100);
	await page.screenshot({ path: shots + '/axis.png' });
	await page.keyboard.press('f');
}

/* Two fingers that part zoom. */
async function fingers(page) {
	const client = await page.context().newCDPSession(page), at = await rowPlace(page, 'worker 2', 0.5);
	const touch = (type, wide) => client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] :
		[{ x: at.x - wide, y: at.y, id: 1 }, { x: at.x + wide, y: at.y, id: 2 }] });
	await client.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 2 });
	await page.evaluate(() => ktr.look(0, ktr.index.span));
	const span = await page.evaluate(() => ktr.index.span);
	await touch('touchStart', 50);
	for (const wide of [60, 80, 100])
		await touch('touchMove', wide);
	await touch('touchEnd');
	await page.waitForFunction((n) => ktr.view.to - ktr.view.from < n * 0.56, span).catch(() => {});
	const now = await page.evaluate(() => ktr.view.to - ktr.view.from);
	await client.send('Emulation.setTouchEmulationEnabled', { enabled: false });
	check('two fingers', Math.abs(now / span - 0.5) < 0.06, [now / span, await page.evaluate(() => [pointer.down.size, held.size])]);
	await page.keyboard.press('f');
}

const EXPRESSIONS = ['kind == state and group == worker and cpu in (0..1)', 'class == net and arg0 > 4000', 'func == step and not kind in (event, state)',
	'class == request and msg ~ "*left*" and cpu >= 0', 'file ~ /big\\.c/ and arg0 % 4096 == 7', 'group in (done, request) and kind != start or arg2 == "left"',
	'span request > 10us and class == net', 'span "*ing" > 40ms or span "worker ?" > 1s and kind == start', 'not span "worker 2" < 1us and not kind == event',
	'index % 4096 == 7 or index in (1, 3, 5..9)', 'module ~ "*/big" and kind == counter and module == big'];

async function searching(page) {
	/* A millisecond around the event in the middle. */
	const middle = await page.evaluate(async () => {
		const chunk = await ktr.chunkLater(ktr.index.chunks.length >> 1);
		return Math.round(chunk.time[chunk.n >> 1] + ktr.index.from);
	}), moments = `time in (${middle - 500000}..${middle + 500000})`;
	for (const text of [...EXPRESSIONS, moments]) {
		const want = execFileSync(ktr, ['json', '--events', '--filter', text, trace], { maxBuffer: 1 << 30, encoding: 'utf8' })
			.split('\n').length - 1;
		await page.keyboard.press('/');
		await page.locator('#search').fill(text);
		await page.waitForFunction((t) => ktr.search.text === t && ktr.search.done, text, { timeout: 240000 });
		const told = await page.waitForFunction(() => /^[\d,]+ hits? · filter$/.test(document.getElementById('hits').textContent) &&
			document.getElementById('hits').textContent).then((h) => h.jsonValue(), () => page.textContent('#hits'));
		check('hits of ' + text, Number(told.split(' ')[0].replace(/,/g, '')) === want && want > 0, [told, want]);
		const listed = await page.evaluate(() => document.querySelectorAll('#drawer tbody tr').length);
		check('they are listed: ' + text, listed === Math.min(want, 500), listed);
		await page.keyboard.press('Escape');
	}
	await page.locator('#search').fill('class == net and arg0 >');
	await page.waitForFunction(() => /as text: a value is missing at \d+$/.test(document.getElementById('hits').textContent));
	await page.locator('#search').fill(moments);
	await page.waitForFunction(() => ktr.search.done && ktr.search.total > 0 && document.querySelector('#drawer tbody tr'));
	const mark = await page.evaluate((middle) => {
		ktr.draw();
		const map = document.getElementById('map'), pixels = map.getContext('2d').getImageData(290, 2, map.width - 290, 1).data, at = [];
		for (let x = 0; x < pixels.length / 4; x++)
			if (pixels[4 * x] === 179 && pixels[4 * x + 1] === 74)
				at.push(x / (map.width - 290));
		return { at, want: (middle - ktr.index.from) / ktr.index.span };
	}, middle);
	check('hits are marked on the map', mark.at.length > 0 && mark.at.every((x) => Math.abs(x - mark.want) < 0.01), mark);
	await page.screenshot({ path: shots + '/hits.png' });
	await page.click('#drawer tbody tr');
	await page.waitForFunction(() => ktr.view.selected?.event >= 0);
	await page.keyboard.press('Escape');
}

/* Whoever asks for a moment gets everything, with that in sight; and again, after the page was opened at the printed link. */
async function around(browser) {
	const link = execFileSync(ktr, ['timeline', '--around', '5ms+/-1ms', '-o', 'around.html', trace], { encoding: 'utf8' }).trimEnd();
	const [, from, to] = /^around\.html#view=(\d+)\.\.(\d+)$/.exec(link) ?? [];
	check('a link is printed', to - from === 2000001, link);
	for (const hash of ['', link.slice(link.indexOf('#'))]) {
		const page = await openPage(browser, process.cwd() + '/around.html', hash);
		await page.evaluate(() => ktr.ready);
		const seen = await page.evaluate(() => [ktr.view.from + ktr.index.from, ktr.view.to + ktr.index.from, ktr.index.events, ktr.index.span]);
		check('the page opens around it', seen[0] === Number(from) && seen[1] === Number(to) && seen[2] > 900000 && seen[3] > 6e6, [seen, link]);
		await page.keyboard.press('f');
		await page.waitForFunction(() => ktr.view.to - ktr.view.from >= ktr.index.span);
		await page.close();
	}
}

/* Parts in sight stay, whoever asks for others meanwhile. */
async function staying(page) {
	const gone = await page.evaluate(async () => {
		const { chunks: parts } = ktr.index, seen = Array.from({ length: 40 }, (_, k) => k);
		ktr.look(parts[0].first, parts[39].first);
		ktr.draw();
		/* No frame says meanwhile what is in sight. */
		chunkCame = null;
		for (const k of [...seen, ...Array.from({ length: 25 }, (_, k) => 60 + k)])
			await ktr.chunkLater(k);
		chunkCame = show;
		return [seen.filter((k) => !chunks.has(k)), chunks.size, parts.length];
	});
	check('parts in sight stay', gone[0].length === 0 && gone[1] <= 50 && gone[2] > 85, gone);
}

const browser = await start();
const first = await openPage(browser, long);
await first.evaluate(() => ktr.ready);
await first.waitForFunction(() => document.readyState === 'complete');
await light(first);
await firstView(first);
await staying(first);
await first.close();
const page = await openPage(browser, file);
await page.evaluate(() => ktr.ready);
await page.waitForFunction(() => document.readyState === 'complete');
await light(page);
await fingers(page);
await moving(page);
await searching(page);
await around(browser);
await browser.close();
process.exit(failed() ? 1 : 0);
