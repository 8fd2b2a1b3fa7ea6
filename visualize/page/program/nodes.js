/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of a page. Text of a trace gets here as text of nodes, never as HTML. */

const part = (id) => document.getElementById(id);

function element(name, properties, ...children) {
	const node = document.createElement(name);
	Object.assign(node, typeof properties === 'string' ? { className: properties } : properties);
	node.append(...children);
	return node;
}

const button = (textContent, title, onclick, more) => element('button', { textContent, title, onclick, ...more });

const SVG = 'http://www.w3.org/2000/svg';

function svg(name, attributes, ...children) {
	const node = document.createElementNS(SVG, name);
	for (const key in attributes)
		node.setAttribute(key, attributes[key]);
	node.append(...children);
	return node;
}

/* Only what has changed, so that who has the page read aloud hears no more. */
function put(id, text) {
	if (part(id).textContent !== text)
		part(id).textContent = text;
}
