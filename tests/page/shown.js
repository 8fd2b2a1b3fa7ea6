// SPDX-License-Identifier: BSD-2-Clause
// Behind visualize/page/program/text.js, data.js and rows.js: what the page's own program makes of a page of one chunk, for
// tests/cli/show/spans.py. A line for each span and state: [row, label or null, from, to].
//
//	cd visualize/page/program && cat text.js data.js rows.js ../../../tests/page/shown.js | node - PAGE
const html = require('fs').readFileSync(process.argv[2], 'utf8');
const blob = (id) => new Uint8Array(require('zlib').inflateSync(
	Buffer.from(html.match(new RegExp('id="' + id + '">([^<]*)<'))[1], 'base64')));

indexRead(new TextDecoder().decode(blob('index')));
statesRead(blob('states'));
chunks.set(0, new Chunk(0, blob('c0')));
const all = { from: 0, to: index.last + 1, first: 0, end: 0 };
const tell = (...what) => console.log(JSON.stringify(what));
index.rows.forEach((row, number) => {
	if (row.kind === 0 && row.has & HAS_SPANS)
		eachSpan(number, all, (from, to) => tell(number, null, from, to));
	if (row.kind === 0 && row.has & HAS_STATES)
		eachState(number, all, (from, to, label) => label && tell(number, index.labels[label], from, to));
});
