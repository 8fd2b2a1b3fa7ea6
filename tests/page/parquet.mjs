// SPDX-License-Identifier: BSD-2-Clause
// A trace as Parquet, opened by programs that are not ours: hyparquet and parquet-wasm, which browsers use, and DuckDB.
// All must have the rows that `ktr json --events` prints.
//
//	node tests/page/parquet.mjs KTR TRACE	NODE_MODULES: a folder below which npm has put them
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [ktr, trace] = process.argv.slice(2);
const modules = createRequire(pathToFileURL(resolve(process.env.NODE_MODULES ?? '.', 'x')));
const dir = mkdtempSync(join(tmpdir(), 'ktr-parquet-'));
const file = join(dir, 'trace.parquet');
const run = (...args) => execFileSync(ktr, args, { maxBuffer: 1 << 30, encoding: 'utf8' });
// One text for a value, however a reader has it.
const plain = v => v == null ? null : typeof v === 'number' && !Number.isInteger(v) ? v.toFixed(9) : String(v);
const same = (a, b, what) => { if (a !== b) throw new Error(`${what}: ${a} and not ${b}`); };

async function hyparquet() {
	const { parquetReadObjects } = await import(pathToFileURL(modules.resolve('hyparquet')));
	const bytes = readFileSync(file);
	return parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) });
}

async function wasm() {
	const { readParquet } = modules('parquet-wasm/node');
	const { tableFromIPC } = modules('apache-arrow');
	return tableFromIPC(readParquet(readFileSync(file)).intoIPCStream()).toArray().map(row => row.toJSON());
}

async function duckdb() {
	const { DuckDBInstance } = modules('@duckdb/node-api');
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	return (await connection.runAndReadAll(`SELECT * FROM read_parquet('${file}')`)).getRowObjects();
}

try {
	run('export', 'parquet', trace, '-o', file);
	const events = run('json', '--events', trace).trimEnd().split('\n').map(line => JSON.parse(line));
	let first;
	for (const reader of [hyparquet, wasm, duckdb]) {
		const rows = (await reader()).map(row => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, plain(v)])));
		const ours = rows.filter(row => row.kind !== 'loss');
		same(ours.length, events.length, `${reader.name}: events`);
		ours.forEach((row, i) => {
			same(row.message, events[i].msg, `${reader.name}: message of row ${i}`);
			same(row.class, events[i].class, `${reader.name}: class of row ${i}`);
			same(row.cpu, String(events[i].cpu), `${reader.name}: CPU of row ${i}`);
		});
		first ??= rows;
		same(rows.length, first.length, `${reader.name}: rows`);
		rows.forEach((row, i) => same(JSON.stringify(row), JSON.stringify(first[i]), `${reader.name}: row ${i}`));
		console.log(`${reader.name}: ${rows.length} rows of ${Object.keys(rows[0]).length} columns, as of ktr json`);
	}
} finally {
	rmSync(dir, { recursive: true });
}
