/* SPDX-License-Identifier: BSD-2-Clause */
/* The worker as the page sees it. Where a browser gives none, tasks run here, between frames. */
'use strict';

const asked = { worker: null, tried: false, runs: new Map(), last: 0 };

function workerStart() {
	asked.tried = true;
	try {
		const source = new Blob([part('engine').textContent], { type: 'text/javascript' });
		const worker = new Worker(URL.createObjectURL(source));
		worker.onmessage = ({ data }) => workerSays(worker, data);
		worker.onerror = () => {
			asked.worker = null;
			for (const run of asked.runs.values())
				run.fail(new Error('the worker has ended'));
		};
		asked.worker = worker;
	} catch (error) {
		asked.worker = null;
	}
}

async function workerSays(worker, { want, id, told, answer, error }) {
	if (want) {
		const bytes = await blobOf(want).catch(() => new Uint8Array(0));
		worker.postMessage({ blob: want, bytes }, [bytes.buffer]);
		return;
	}
	const run = asked.runs.get(id);
	if (!run)
		return;
	if (told) {
		run.told?.(told);
		return;
	}
	asked.runs.delete(id);
	if (error)
		run.fail(new Error(error));
	else
		run.resolve(answer);
}

/* The answer of a task, null if it was stopped: told(so far) is called meanwhile. The promise has stop(). */
function ask(name, question, told) {
	const id = ++asked.last, here = { stopped: false };
	if (!asked.tried)
		workerStart();
	const answer = asked.worker ? new Promise((resolve, fail) => {
		asked.runs.set(id, { resolve, fail, told });
		asked.worker.postMessage({ id, name, ask: question });
	}) : tasks[name](question, Object.assign(here, { done: (share) => told?.({ share, ...here.sofar?.() }) }));
	answer.stop = () => {
		here.stopped = true;
		asked.worker?.postMessage({ stop: id });
	};
	return answer;
}
