/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers as the page sees them. One does what is asked; a search, which leaves much behind, has one of its own, and one that unpacks
 * parts for it meanwhile, and they end with it.
 */
'use strict';

const asked = { worker: null, runs: new Map(), last: 0 };

function workerStart() {
	const source = new Blob([part('engine').textContent], { type: 'text/javascript' });
	return Object.assign(new Worker(URL.createObjectURL(source)), { onmessage: ({ target, data }) => workerSays(target, data) });
}

async function workerSays(worker, { want, id, told, answer, error }) {
	const run = asked.runs.get(id), { unpacker } = worker;
	if (want) {
		const bytes = await blobOf(want).then((packed) => unpacker ? workerAsk(unpacker, 'unpack', { bytes: packed }) : packed).catch(() => new Uint8Array(0));
		worker.postMessage({ blob: want, bytes }, [bytes.buffer ?? bytes]);
	} else if (told) {
		run?.told?.(told);
	} else if (error) {
		run?.fail(new Error(error));
	} else {
		run?.end(answer);
	}
}

function workerAsk(worker, name, question, told) {
	const id = ++asked.last, answer = new Promise((end, fail) => {
		asked.runs.set(id, { end, fail, told });
		worker.postMessage({ id, name, ask: question }, question.bytes ? [question.bytes.buffer] : []);
	}).finally(() => {
		asked.runs.delete(id);
		if (worker.unpacker)
			[worker, worker.unpacker].forEach((one) => one.terminate());
	});
	answer.stop = () => worker.postMessage({ stop: id });
	return answer;
}

/* The answer of a task, null if it was stopped: told(so far) is called meanwhile. The promise has stop(). */
const ask = (name, ...how) => workerAsk(name === 'search' ? Object.assign(workerStart(), { unpacker: workerStart() }) : asked.worker ??= workerStart(), name, ...how);
