/* SPDX-License-Identifier: BSD-2-Clause */
/* What elements of a page hold, packed by visualize/page/blob.c. */

const bytesOf = (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));

/* What an element of the page holds, as it is packed; parts come while the page is still being read, large ones in pieces. */
let blobOf = async (id) => {
	for (;;) {
		const element = document.getElementById(id), all = document.readyState !== 'loading';
		if (element && (all || element.nextElementSibling))
			return bytesOf(element.textContent);
		if (all && !element)
			throw new Error(id + ' of the page is missing');
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
};

const unpack = async (id) => unpacked(await blobOf(id));

/*
 * Memory that nobody needs any more, by its size: in a worker, which makes one part after the other, it is for the next one, because what
 * is new has to be found and cleared first, page by page.
 */
const spare = new Map();
let spareMost = 0;	/* of one size */

/* Holds anything; what it is for is its first n. */
function arrayFor(Of, n) {
	const size = max(4096, 2 ** ceil(log2(n * Of.BYTES_PER_ELEMENT)));
	return new Of(spare.get(size)?.pop() ?? new ArrayBuffer(size), 0, n);
}

/*
 * Streams and their pieces, 350 kB a part, lie in the browser's own memory until it looks for what is not used any more. It does where
 * so much is asked for as LOOK; none of that is touched. So many parts are in between.
 */
const LOOK = 2 ** 28, PARTS = 16;
let nUnpacked = 0;

function lookForUnused() {
	try {
		new ArrayBuffer(LOOK);
	} catch {
		/* It has looked, then. */
	}
}

/* Takes the bytes, and gives memory back at once: there are many parts. */
async function unpacked(bytes) {
	const { writable, readable } = new DecompressionStream('deflate'), writer = writable.getWriter(), reader = readable.getReader();
	const pieces = [], ignored = () => {};
	/* What goes wrong is told to who reads. */
	writer.write(bytes).catch(ignored);
	writer.close().catch(ignored);
	for (let read; !(read = await reader.read()).done;)
		pieces.push(read.value);
	const all = arrayFor(Uint8Array, pieces.reduce((n, piece) => n + piece.length, 0));
	let at = 0;
	for (const piece of pieces) {
		all.set(piece, at);
		at += piece.length;
	}
	for (const { buffer } of [bytes, ...pieces])
		buffer.transfer?.(0);
	if (++nUnpacked % PARTS === 0)
		lookForUnused();
	return all;
}
