/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers as the page sees them. A search, which leaves much behind, has one of its own, which ends with it; one does all else. Where
 * a browser gives none, tasks run here, between frames.
 */
'use strict';

const asked = { worker: null, broken: false, runs: new Map(), last: 0 };

function workerStart() {
	const broken = () => {
		asked.broken = true;
		asked.runs.forEach(({ fail }) => fail(new Error('the worker has ended')));
		return null;
	};
	try {
		const source = new Blob([part('engine').textContent], { type: 'text/javascript' });
		return Object.assign(new Worker(URL.createObjectURL(source)), { onerror: broken, onmessage: ({ target, data }) => workerSays(target, data) });
	} catch {
		return broken();
	}
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
	const id = ++asked.last, here = { stopped: false }, own = name === 'search';
	const worker = asked.broken ? null : own ? workerStart() : asked.worker ??= workerStart();
	const done = () => asked.runs.delete(id) && own && worker.terminate();
	const answer = worker ? new Promise((end, fail) => {
		asked.runs.set(id, { end, fail, told });
		worker.postMessage({ id, name, ask: question }, question.bytes ? [question.bytes.buffer] : []);
	}).finally(done) : tasks[name](question, Object.assign(here, { done: (share) => told?.({ share, ...here.sofar?.() }) }));
	answer.stop = () => {
		here.stopped = true;
		if (own)
			asked.runs.get(id)?.end(null);
		else
			worker?.postMessage({ stop: id });
	};
	return answer;
}
