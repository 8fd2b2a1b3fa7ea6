/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers as the page sees them. A search, which leaves much behind, has one of its own, which ends with it; one does all else, and
 * ends where a search begins and it has nothing to do.
 */
'use strict';

const asked = { runs: new Map(), last: 0 };	/* and worker */

function workerStart() {
	const source = new Blob([part('engine').textContent], { type: 'text/javascript' });
	return Object.assign(new Worker(URL.createObjectURL(source)), { onmessage: ({ target, data }) => workerSays(target, data) });
}

async function workerSays(worker, { want, id, told, answer, error }) {
	const run = asked.runs.get(id), bytes = want && await blobOf(want).catch(() => new Uint8Array(0));
	if (want)
		worker.postMessage({ blob: want, bytes }, [bytes.buffer]);
	else if (told)
		run?.told?.(told);
	else if (error)
		run?.fail(new Error(error));
	else
		run?.end(answer);
}

/* The answer of a task, null if it was stopped: told(so far) is called meanwhile. The promise has stop(). */
function ask(name, question, told) {
	const id = ++asked.last, own = name === 'search';
	if (own && !asked.runs.size)
		asked.worker = asked.worker?.terminate();
	const worker = own ? workerStart() : asked.worker ??= workerStart();
	const answer = new Promise((end, fail) => {
		asked.runs.set(id, { end, fail, told });
		worker.postMessage({ id, name, ask: question }, question.bytes ? [question.bytes.buffer] : []);
	}).finally(() => asked.runs.delete(id) && own && worker.terminate());
	answer.stop = () => own ? asked.runs.get(id)?.end(null) : worker.postMessage({ stop: id });
	return answer;
}
