/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What takes a look at many parts of the page, and therefore runs in a worker: this file and those before it are the
 * worker's program, too. It gets packed parts from the page, one at a time, and keeps few.
 *
 *	page to worker	{id, name, ask}: begin; {stop: id}; {blob, bytes}: what was wanted
 *	worker to page	{want: blob}; {id, told}: so far; {id, answer}; {id, error}
 */

const tasks = { chunk: chunkTask, kind: kindTask, whole: wholeTask, window: windowTask, search: searchTask, around: aroundTask };
/* A part as it is drawn, made here so that the page goes on meanwhile. */
async function chunkTask({ number, bytes }) {
	const chunk = new Chunk(number, await unpacked(bytes));
	chunk.list('ids');
	chunk.readLanes();
	chunk.readLabels();
	giveBack(chunk.ordinals.buffer);
	chunk.ordinals = null;
	return chunk;
}

const AHEAD = 3;	/* parts that are asked for before they are needed */

/* see(k) for each part, unpacked, until it returns true, then the answer; null if the task was stopped before. */
async function eachPart(first, end, task, see, answer) {
	for (let k = max(0, first); k <= end; k++) {
		for (let ahead = k + 1; ahead <= min(end, k + AHEAD); ahead++)
			chunkNow(ahead);
		await chunkLater(k);
		if (task.stopped)
			return null;
		if (await see(k) === true)
			break;
		task.done?.(task.share?.(k + 1) ?? (k + 1 - first) / (end + 1 - first));
	}
	return answer();
}

function workerServe() {
	const running = new Map(), wanted = new Map();
	let ready;
	spareMost = KEPT;
	blobOf = (blob) => new Promise((resolve) => {
		wanted.set(blob, resolve);
		postMessage({ want: blob });
	});
	const run = async ({ id, name, ask }) => {
		let at = 0;
		const task = { stopped: false, done: (share) => {
			if (performance.now() - at < 250)
				return;
			at = performance.now();
			postMessage({ id, told: { share, ...task.sofar?.() } });
		} };
		running.set(id, task);
		try {
			await (ready ??= dataOpen(false));
			const answer = await tasks[name](ask, task);
			postMessage({ id, answer }, answer instanceof Chunk ? buffersOf(answer) : []);
		} catch (error) {
			postMessage({ id, error: error.message });
		}
		running.delete(id);
	};
	onmessage = ({ data }) => {
		if (data.blob) {
			wanted.get(data.blob)?.(data.bytes);
			wanted.delete(data.blob);
		} else if (data.stop) {
			Object.assign(running.get(data.stop) ?? {}, { stopped: true });
		} else {
			run(data);
		}
	};
}

if (typeof document === 'undefined' && typeof WorkerGlobalScope === 'function')
	workerServe();
