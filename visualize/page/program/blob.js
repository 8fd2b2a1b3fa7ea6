/* SPDX-License-Identifier: BSD-2-Clause */
/* What elements of a page hold, packed by visualize/page/blob.c. */

function bytesOf(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

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

async function unpack(id) {
	const stream = new Blob([await blobOf(id)]).stream();
	return new Response(stream.pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}
