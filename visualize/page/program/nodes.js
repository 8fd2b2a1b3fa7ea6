/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of a page. Text of a trace gets here as text of nodes, never as HTML. */

const part = (id) => document.getElementById(id);

/* What the page's own text says in a template. */
const words = (id) => part(id).content.textContent;

function element(name, properties, ...children) {
	const node = document.createElement(name);
	Object.assign(node, typeof properties === 'string' ? { className: properties } : properties);
	node.append(...children);
	return node;
}

const button = (textContent, title, onclick, more) => element('button', { textContent, title, onclick, ...more });

/* What is done by a click on a node, and by the enter key where one is on it. */
const pressed = (go) => ({ tabIndex: 0, onclick: go, onkeydown: (event) => event.key === 'Enter' && go() });

/* The head of a column that lines may be sorted by; now: {head, down: the largest first}. */
const columnHead = (head, title, now, by) => element('th', { ariaSort: head !== now.head ? 'none' : now.down ? 'descending' : 'ascending' },
	button(head + (head === now.head ? (now.down ? ' ▾' : ' ▴') : ''), title, () => by(head)));

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
