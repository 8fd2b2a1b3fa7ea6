// SPDX-License-Identifier: BSD-2-Clause
// Starts Chromium without a screen, opens pages in it and fails on whatever they complain about.
import { chromium } from 'playwright-core';

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync'];

export async function start() {
	return chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: flags });
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

export async function openPage(browser, file) {
	const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
	page.on('console', (message) => message.type() === 'error' && check('console', false, message.text()));
	page.on('pageerror', (error) => check('error in the page', false, error.message));
	page.on('dialog', (dialog) => {
		check('a dialog was opened', false, dialog.message());
		dialog.dismiss();
	});
	page.on('request', (request) => !request.url().startsWith('file:') && !request.url().startsWith('blob:') &&
		check('a request', false, request.url()));
	await page.goto('file://' + file, { waitUntil: 'commit' });
	await page.waitForFunction(() => window.ktr);
	return page;
}
