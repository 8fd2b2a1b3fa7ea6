// SPDX-License-Identifier: BSD-2-Clause
// One selection, one answer: ranges are dragged on a page, and what the tables below the plot say is what `ktr report` says
// of the same window, by the very command that the page writes, and what `ktr sql` counts.
//
//	node numbers.mjs KTR TRACE PAGE SCREENSHOTS
import { execFileSync, execSync } from 'node:child_process';
import { check, failed, openPage, start } from './browser.mjs';

const [ktr, trace, file, shots] = process.argv.slice(2);
const report = (command, ...more) => JSON.parse(execSync(command.replace(/^ktr report/, '"$KTR" report ' + more.join(' ')),
	{ env: { ...process.env, KTR: ktr }, maxBuffer: 1 << 28 }));
const sql = (query) => execFileSync(ktr, ['sql', '--json', trace, query], { maxBuffer: 1 << 28, encoding: 'utf8' }).trim().split('\n')
	.filter(Boolean).map((line) => JSON.parse(line));

/* Drags over shares of the plot; the window that the page asks about, in nanoseconds since the trace began. */
async function drag(page, from, to) {
	const box = await page.evaluate(() => {
		const { left, top, width } = document.getElementById('plot').getBoundingClientRect();
		return { left, top, width };
	});
	const x = (share) => box.left + 290 + share * (box.width - 290);
	await page.mouse.move(x(from), box.top + 60);
	await page.mouse.down();
	await page.mouse.move(x((from + to) / 2), box.top + 64, { steps: 3 });
	await page.mouse.move(x(to), box.top + 64, { steps: 3 });
	await page.mouse.up();
	await page.waitForFunction(() => ktr.drawer.window);
	return page.evaluate(() => ({ from: Math.round(ktr.drawer.window.from + ktr.index.from), to: Math.round(ktr.drawer.window.to + ktr.index.from) }));
}

/* A tab's table as it is read: an array of objects by the heads of its columns; and the command beside it. */
async function table(page, tab) {
	await page.click(`#drawer button[data-tab=${tab}]`);
	return page.evaluate(() => {
		const heads = [...document.querySelectorAll('#drawer th')].map((th) => th.textContent.replace(/ [▾▴]$/, ''));
		return { command: document.getElementById('report').textContent,
			rows: [...document.querySelectorAll('#drawer tbody tr')].map((row) => Object.fromEntries([...row.cells].map((c, i) => [heads[i], c.textContent]))) };
	});
}

/* A duration as the page writes it. */
const written = (page, ns) => ns === undefined ? '-' : page.evaluate((n) => duration(Math.round(n)), ns);
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

async function names(page, window, least) {
	const { command, rows } = await table(page, 'names'), { functions, spans } = report(command, '--json');
	const same = async (what, row, want) => {
		for (const [head, text] of Object.entries(want))
			check(`${what}: ${head}`, row?.[head] === text, [row, want]);
	};
	let compared = 0;
	for (const f of functions ?? []) {
		if (!f.calls)
			continue;
		await same(f.name, rows.find((row) => row.name === f.name), { count: grouped(f.calls), total: await written(page, f.total_ns),
			self: await written(page, f.self_ns), mean: await written(page, f.mean_ns), p50: await written(page, f.p50_ns),
			p99: await written(page, f.p99_ns), max: await written(page, f.max_ns) });
		compared++;
	}
	for (const s of spans.filter((span) => span.group !== 'scope' && span.count)) {
		await same(s.id, rows.find((row) => row.name === s.group + ' ' + s.id), { count: grouped(s.count), total: await written(page, s.total_ns),
			mean: await written(page, s.mean_ns), p50: await written(page, s.p50_ns), p99: await written(page, s.p99_ns), max: await written(page, s.max_ns) });
		compared++;
	}
	check('as many names as ktr report has', compared === rows.length && compared >= least, [compared, rows.length]);
	const asked = sql(`SELECT grp, id, count(*) AS n, sum(dur) AS total, max(dur) AS most FROM spans WHERE kind = 'span' AND time >= ${window.from}
		AND until < ${window.to} GROUP BY grp, id`);
	for (const { grp, id, n, most } of asked) {
		const row = rows.find((r) => r.name === (grp === 'scope' ? id : grp + ' ' + id));
		check('ktr sql: ' + id, row?.count === grouped(n) && row.max === await written(page, most), [row, n, most]);
	}
	check('as many names as ktr sql has', asked.length === rows.length, [asked.length, rows.length]);
}

async function states(page, window) {
	const { rows } = await table(page, 'states');
	const asked = sql(`SELECT grp, id, state, sum(min(coalesce(until, ${window.to}), ${window.to}) - max(time, ${window.from})) AS ns FROM spans WHERE kind = 'state'
		AND time < ${window.to} AND coalesce(until, ${window.to}) > ${window.from} GROUP BY grp, id, state`);
	for (const { grp, id, state, ns } of asked) {
		const row = rows.find((r) => r.row === grp + ' ' + id && r.state === state);
		check(`time in ${state} of ${id}`, row?.time === await written(page, ns), [row, ns]);
	}
	check('as many states', asked.length === rows.length && rows.length > 3, [asked.length, rows.length]);
}

async function classes(page, window) {
	const { command, rows } = await table(page, 'classes'), told = report(command, '--json');
	for (const { class: name, events } of told.classes)
		check('events of ' + name, rows.find((row) => row.class === name)?.events === grouped(events), [rows, events]);
	check('as many classes', told.classes.length === rows.length, [told.classes, rows]);
	const [{ n }] = sql(`SELECT count(*) AS n FROM events WHERE time >= ${window.from} AND time < ${window.to}`);
	check('events in the range', await page.evaluate(() => ktr.drawer.window.events) === n, n);
}

/* A click on a head sorts, another one the other way; a click on a line goes there. */
async function sorting(page, least) {
	const column = async (head) => (await table(page, 'names')).rows.map((row) => row[head]);
	await table(page, 'names');
	await page.click('#drawer th:has-text("name") button');
	const up = await column('name');
	await page.click('#drawer th:has-text("name") button');
	const down = await column('name');
	check('sorted by name', up.length >= least && (up.length === 1 || up.join() !== down.join()) && up.join() === down.slice().reverse().join(), [up, down]);
	await page.click('#drawer tbody tr');
	await page.waitForFunction(() => document.querySelector('#panel h2'));
	const title = await page.textContent('#panel h2');
	check('a line goes to its longest', title === down[0], [title, down]);
}

const browser = await start();
const page = await openPage(browser, file);
await page.evaluate(() => ktr.ready);
/* A small one, from the middle on, in which a span or a scope has both ends. */
const middle = await page.evaluate(async () => {
	const { chunks, span } = ktr.index;
	for (let k = chunks.length >> 1; k < chunks.length; k++) {
		const { n, time } = await ktr.chunkLater(k);
		for (let e = n >> 1; e < n; e += 20) {
			const at = Math.min(0.95, time[e] / span);
			if ((await ktr.ask('window', { from: Math.ceil((at - 0.005) * span), to: Math.floor((at + 0.015) * span) })).lines.length)
				return at;
		}
	}
	return 0.5;
});
for (const [from, to] of [[0.2, 0.8], [middle - 0.01, middle + 0.02], [0.01, 0.99]]) {
	const window = await drag(page, from, to);
	/* In the small one it may be but one thread that did something. */
	const least = to - from < 0.1 ? 1 : 2;
	await names(page, window, least);
	if (await page.locator('#drawer button[data-tab=states]').count())
		await states(page, window);
	await classes(page, window);
	if (from === 0.2)
		await page.screenshot({ path: shots + '/range.png' });
	await sorting(page, least);
	await page.keyboard.press('Escape');
	check('the drawer is closed', await page.evaluate(() => document.getElementById('drawer').hidden));
}
await browser.close();
process.exit(failed() ? 1 : 0);
