// SPDX-License-Identifier: BSD-2-Clause
// How fast a page is, and how large: traces of one, ten and fifty million events.
//
//	node speed.mjs PAGE EVENTS [PAGE EVENTS...]
//	node speed.mjs				the searches, a line each: PAGE.hits has what `ktr dump --count` has for them
//
// What is measured, all of it in the page, by its own clock:
//
//	first picture	from the beginning of the navigation to the end of the first drawing that lacks nothing that is in sight
//	input		from when the page is given a key, a wheel's turn or a pointer's move, by a listener that comes before its own,
//			to the end of the drawing that shows it; a pixel is read back after each drawing, so that the canvas has
//			really been filled by then. And from when the browser had it (event.timeStamp), which hands on wheel and
//			pointer with its next frame only: that one is printed, and is none of the limits
//	bare loop	fillRect on the same canvas for every rectangle that the page's own drawing of the same views sets, and the
//			pixel read back; no text, no search for what is where
//	memory		the renderer's PSS, after all of that and two searches
//	search		from the key that ends its text to the last hit, an expression of ktr-filter(7); and to the first one that is
//			listed, with how far the search has come
//
// Of the slowest inputs it is told what the time went to: how long until the drawing began, and what each part of it took. A machine
// that is busy with other things takes longer: the best of three counts.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { check, failed, openPage, start } from './browser.mjs';

const FIRST = 1000, MEDIAN = 16, MOST = 50, BARE = 3, MEMORY = 200e6, BYTES = 3, SEARCH = 3000, HIT = 1000;	/* SEARCH at ten million events */
/* Of big.c's requests the last one of each burst takes 50 ms, or longer on a busy machine. */
const SEARCHES = ['class == net and arg0 > 4000', 'span request > 40ms and class == net'];

const quantile = (times, share) => times.slice().sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];

/* Is a process one that this one started, or that one of these started? */
function mine(pid) {
	while (pid > 1 && pid !== process.pid)
		pid = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
	return pid === process.pid;
}

/* [bytes] The largest PSS of the browser's renderers. */
function memory() {
	let most = 0;
	for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number))
		try {
			if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer') && mine(pid))
				most = Math.max(most, 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]));
		} catch {
			/* It has ended. */
		}
	return most;
}

/*
 * From each input to the end of the drawing that shows it: {given, had: ms since the page and the browser had it, of: what took them},
 * by what the page calls meanwhile, and from the input to the beginning of the drawing.
 */
function watchInputs() {
	const pen = document.getElementById('plot').getContext('2d'), spent = {};
	let since = null;
	window.took = [];
	const timed = (name, plain) => (...how) => {
		const begin = performance.now();
		if (since && name === 'draw')
			spent.before ??= begin - since[0];
		try {
			return plain(...how);
		} finally {
			spent[name] = (spent[name] ?? 0) + performance.now() - begin;
		}
	};
	for (const name of ['draw', 'paint', 'once', 'outputsShow', 'tipShow', 'workerSays'])
		window[name] = timed(name, window[name]);
	blobOf = timed('blobOf', blobOf);
	for (const type of ['keydown', 'wheel', 'pointerdown', 'pointermove', 'pointerup']) {
		addEventListener(type, ({ timeStamp }) => {
			if (since)
				return;
			since = [performance.now(), timeStamp];
			Object.keys(spent).forEach((name) => delete spent[name]);
			spent.type = type;
		}, { capture: true, passive: true });
		/* Nothing is to be drawn for it. */
		addEventListener(type, () => { since = ktr.frames.asked ? since : null; }, { passive: true });
	}
	ktr.drawn = () => {
		const drawn = performance.now();
		pen.getImageData(0, 0, 1, 1);
		const end = performance.now();
		if (since)
			took.push({ given: end - since[0], had: end - since[1], of: { ...spent, read: end - drawn } });
		since = null;
	};
}

/* The slowest inputs in words. */
const slowest = (times) => times.slice().sort((a, b) => b.given - a.given).slice(0, 4).map(({ given, of: { type, ...parts } }) => `${type} ${given.toFixed(0)} ms (` +
	Object.entries(parts).filter(([, ms]) => ms >= 1).map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(', ') + ')').join('; ');

async function inputs(page) {
	const box = await page.locator('#plot').boundingBox(), at = { x: box.x + 290 + (box.width - 290) * 0.4, y: box.y + 150 };
	const turn = async (key, ...by) => {
		await page.keyboard.down(key);
		for (let i = 0; i < 25; i++)
			await page.mouse.wheel(...by);
		await page.keyboard.up(key);
	};
	await page.evaluate(watchInputs);
	await page.mouse.move(at.x, at.y);
	for (const [from, to] of [[0, 1], [0.3, 0.7], [0.5, 0.5003]]) {
		await page.evaluate(([a, b]) => ktr.look(a * ktr.index.span, b * ktr.index.span), [from, to]);
		await turn('Control', 0, -120);
		await turn('Shift', 60, 0);
		await turn('Control', 0, 120);
		for (const key of ['a', 'd', 's', 'w'])
			await page.keyboard.press(key, { delay: 30 });
		await page.mouse.down();
		for (let i = 0; i < 25; i++)
			await page.mouse.move(at.x + 8 * i, at.y);
		await page.mouse.up();
		await page.keyboard.press('Escape');
	}
	return page.evaluate(() => took);
}

/* Drawing views and filling as many rectangles: [ms, ms, rectangles]. */
const beside = (page) => page.evaluate(() => {
	const canvas = document.getElementById('plot'), pen = canvas.getContext('2d'), runs = [[], []], all = [];
	const timed = (what, into) => {
		const begin = performance.now();
		what();
		pen.getImageData(0, 0, 1, 1);
		into.push(performance.now() - begin);
	};
	for (const [from, to] of [[0, 1], [0.3, 0.7], [0.5, 0.5003]]) {
		const plain = { rectangle, paintColumn }, { fillRect } = CanvasRenderingContext2D.prototype, filled = [];
		const css = (pixel) => '#' + [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255].map((c) => c.toString(16).padStart(2, '0')).join('');
		ktr.look(from * ktr.index.span, to * ktr.index.span);
		ktr.draw();
		rectangle = (x0, y0, x1, y1, pixel) => {
			filled.push([x0, y0, x1 - x0, y1 - y0, css(pixel)]);
			plain.rectangle(x0, y0, x1, y1, pixel);
		};
		paintColumn = (line, x, left, y0, y1, order, columns) => {
			const n = [0, 1, 2, 3].filter((i) => columns.weight[4 * x + i] > 0);
			n.forEach((i, k) => filled.push([left + x, y0 + (y1 - y0) * k / n.length, 1, (y1 - y0) / n.length, css(packed(colourOf(columns.label[4 * x + i])))]));
			plain.paintColumn(line, x, left, y0, y1, order, columns);
		};
		CanvasRenderingContext2D.prototype.fillRect = function (...at) {
			if (this === pen)
				filled.push([...at, this.fillStyle]);
			fillRect.apply(this, at);
		};
		ktr.draw();
		({ rectangle, paintColumn } = plain);
		CanvasRenderingContext2D.prototype.fillRect = fillRect;
		all.push(filled.length);
		for (let i = 0; i < 15; i++) {
			timed(() => ktr.draw(), runs[0]);
			timed(() => {
				for (const [x, y, wide, high, colour] of filled) {
					pen.fillStyle = colour;
					pen.fillRect(x, y, wide, high);
				}
			}, runs[1]);
		}
	}
	ktr.draw();
	return [...runs.map((times) => times.sort((a, b) => a - b)[times.length >> 1]), all];
});

async function searched(page, text) {
	const begin = Date.now();
	await page.locator('#search').fill(text);
	await page.waitForFunction(() => document.querySelector('#drawer tbody tr') && /^[\d,]+(\+ hits \(\d+ %\)| hits?) · filter$/.test(document.getElementById('hits').textContent), null, { polling: 20 });
	const first = Date.now() - begin;
	await page.waitForFunction((text) => ktr.search.text === text && ktr.search.done, text, { polling: 50 });
	const took = Date.now() - begin, hits = await page.evaluate(() => ktr.search.total);
	await page.keyboard.press('Escape');
	return { first, took, hits };
}

async function once(browser, file) {
	const page = await openPage(browser, file), out = {};
	await page.evaluate(() => ktr.ready);
	await page.waitForFunction(() => ktr.frames.whole);
	out.first = await page.evaluate(() => ktr.frames.whole);
	await page.waitForFunction(() => document.readyState === 'complete');
	out.events = await page.evaluate(() => ktr.index.events);
	const times = await inputs(page), [given, had] = ['given', 'had'].map((name) => times.map((time) => time[name]));
	Object.assign(out, { inputs: times.length, slowest: slowest(times), median: quantile(given, 0.5), most: quantile(given, 0.99), had: [quantile(had, 0.5), quantile(had, 0.99)] });
	[out.draw, out.bare, out.rectangles] = await beside(page);
	out.searches = [];
	for (const text of SEARCHES)
		out.searches.push(await searched(page, text));
	out.memory = memory() - statSync(file).size;
	await page.close();
	return out;
}

const least = (all, of) => Math.min(...all.map(of));
const good = (all, events) => least(all, (o) => o.first) < FIRST && least(all, (o) => o.median) < MEDIAN && least(all, (o) => o.most) < MOST &&
	least(all, (o) => o.draw / o.bare) < BARE && least(all, (o) => o.memory) < MEMORY &&
	SEARCHES.every((_, i) => least(all, (o) => o.searches[i].first) < HIT) &&
	(events > 1e7 || SEARCHES.every((_, i) => least(all, (o) => o.searches[i].took) < SEARCH));

if (process.argv.length === 2) {
	console.log(SEARCHES.join('\n'));
	process.exit(0);
}
const browser = await start();
for (let i = 2; i < process.argv.length; i += 2) {
	const [file, events] = [process.argv[i], Number(process.argv[i + 1])], size = statSync(file).size, all = [];
	const known = readFileSync(file + '.hits', 'utf8').trim().split('\n').map(Number);
	while (all.length < 3 && !good(all, events)) {
		const o = await once(browser, file);
		all.push(o);
		console.log(`${o.events} events, ${(size / o.events).toFixed(2)} bytes each: first picture ${Math.round(o.first)} ms, ${o.inputs} inputs, median ` +
			`${o.median.toFixed(1)} ms, 99th ${o.most.toFixed(1)} ms (since the browser had them ${o.had.map((ms) => ms.toFixed(1)).join(', ')} ms), drawing ${o.draw.toFixed(1)} ms, bare loop ${o.bare.toFixed(1)} ms of ${o.rectangles.join(', ')} ` +
			`rectangles, memory page + ${Math.round(o.memory / 1e6)} MB, searches ${o.searches.map(({ first, took, hits }) => `${took} ms (${hits} hits, the first after ${first} ms)`).join(', ')}\nthe slowest: ${o.slowest}`);
	}
	const most = (name, of, limit) => check(`${name} of ${events} events`, least(all, of) < limit, all.map(of));
	check('events in the page', all[0].events >= 0.9 * events, all[0].events);
	check('inputs that were drawn', all.every((o) => o.inputs > 150), all.map((o) => o.inputs));
	most('bytes an event', (o) => size / o.events, BYTES);
	most('first picture [ms]', (o) => o.first, FIRST);
	most('input to the end of drawing, median [ms]', (o) => o.median, MEDIAN);
	most('input to the end of drawing, 99th [ms]', (o) => o.most, MOST);
	most('drawing beside a bare loop', (o) => o.draw / o.bare, BARE);
	most('memory beyond the page', (o) => o.memory, MEMORY);
	SEARCHES.forEach((text, n) => {
		const { hits } = all[0].searches[n];
		check('hits of ' + text, hits > 0 && hits === known[n], [hits, known[n]]);
		most(`first hit of ${text} [ms]`, (o) => o.searches[n].first, HIT);
		if (events <= 1e7)
			most(`search for ${text} [ms]`, (o) => o.searches[n].took, SEARCH);
	});
}
await browser.close();
process.exit(failed() ? 1 : 0);
