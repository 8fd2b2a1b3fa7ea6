// SPDX-License-Identifier: BSD-2-Clause
// Starts Chromium without a screen, opens pages in it and fails on whatever they complain about.
import { chromium } from 'playwright-core';

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync'];

export async function start() {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: flags });
	const newPage = browser.newPage.bind(browser);
	/* A machine may be busy with other things. */
	browser.newPage = async (...how) => {
		const page = await newPage(...how);
		page.setDefaultTimeout(120000);
		return page;
	};
	return browser;
}

let failures = 0;

export function check(what, good, detail) {
	if (!good) {
		failures++;
		console.log(`FAIL ${what}${detail === undefined ? '' : ': ' + JSON.stringify(detail)}`);
	}
}

export function failed() {
	return failures;
}

/* What is written on the plot, of its last frame: {text, x, y, right: it ends at x}; and on the strip above it. */
function keepWritten() {
	const { fillText, putImageData } = CanvasRenderingContext2D.prototype;
	window.written = [];
	CanvasRenderingContext2D.prototype.putImageData = function (...what) {
		window.written = [];
		putImageData.apply(this, what);
	};
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
		if (this.canvas.id === 'map')
			window.writtenMap = text;
		if (this.canvas.id === 'plot')
			window.written.push({ text, x, y, right: this.textAlign === 'right', colour: this.fillStyle, wide: this.measureText(text).width, align: this.textAlign });
		fillText.call(this, text, x, y);
	};
}

export async function openPage(browser, file, hash = '', more = {}) {
	const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, ...more });
	await page.addInitScript(keepWritten);
	page.on('console', (message) => message.type() === 'error' && check('console', false, message.text()));
	page.on('pageerror', (error) => check('error in the page', false, error.stack));
	page.on('dialog', (dialog) => {
		check('a dialog was opened', false, dialog.message());
		dialog.dismiss();
	});
	page.on('request', (request) => !request.url().startsWith('file:') && !request.url().startsWith('blob:') &&
		check('a request', false, request.url()));
	await page.goto('file://' + file + hash, { waitUntil: 'commit' });
	await page.waitForFunction(() => window.ktr ?? window.compare);
	return page;
}

/* What colours tests ask for are those of the light page. */
export async function light(page) {
	await page.evaluate(() => document.documentElement.dataset.theme === 'dark' && document.getElementById('theme').click());
}

/* What is written on the plot once nothing is to be drawn any more. */
export async function written(page) {
	await page.waitForFunction(() => !ktr.frames.asked);
	return page.evaluate(() => window.written);
}

/* Where on the screen a thread's scopes of a level are at a moment [ms]. */
export async function placeOf(page, thread, level, ms) {
	return page.evaluate(([thread, level, ms]) => {
		ktr.draw();
		const row = (l) => l.row >= 0 && ktr.index.rows[l.row].kind === 3, box = document.getElementById('plot').getBoundingClientRect();
		const line = ktr.view.lines.find((l) => row(l) && (l.text.startsWith(thread + ' ') || ktr.index.rows[l.row].ident.startsWith(thread + ' ')));
		const x = 290 + (ms * 1e6 - ktr.view.from) / (ktr.view.to - ktr.view.from) * (box.width - 290);
		return { x: box.left + x, canvasX: x, top: box.top, y: box.top + 26 + line.y - ktr.view.top + 2 + 16 * level + 8 };
	}, [thread, level, ms]);
}

/* The panel: its title, what stands beside each word, and children and place among the kind as they are read. */
export async function fields(page) {
	return page.evaluate(() => {
		const panel = document.getElementById('panel'), out = { title: panel.querySelector('h2')?.textContent };
		for (const row of panel.querySelectorAll('table:not(.children) tr'))
			if (row.cells[0].textContent)
				out[row.cells[0].textContent] = row.cells[1].textContent;
		out.children = [...panel.querySelectorAll('.children tr')].slice(1).map((row) => [...row.cells].map((c) => c.textContent).join(' ')).join(', ');
		out.rank = panel.querySelector('.rank')?.textContent;
		return out;
	});
}
