/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is looked at as the part of the page's address behind "#": times in nanoseconds since the trace began, so that a
 * link holds for another page of the same trace. Back and forward go through what was chosen, not through every move.
 */

const link = { timer: 0, push: false, now: '', reads: false };

function linkText() {
	const at = (time) => round(time + index.from), both = (from, to) => at(from) + '..' + at(to), { measure, selected } = view, { names, sort } = chosen;
	const set = new URLSearchParams({ view: both(view.from, view.to), rows: view.by });
	const said = { top: round(view.top), event: selected?.event >= 0 && String(selected.event), range: measure && !measure.open && both(...measured()),
		[search.follow ? 'follow' : 'search']: search.text, names, sort };
	for (const what in said)
		if (said[what])
			set.set(what, said[what]);
	if (flow.name !== flowFirst())
		set.set('flow', flow.name);
	for (const what of ['fold', 'pin', 'hide'])
		chosen[what].forEach((key) => set.append(what, key));
	for (const note of view.notes)
		set.append('note', at(note.time) + ' ' + note.text);
	return '#' + set.toString().replace(/%2F/g, '/').replace(/%3A/g, ':');
}

/* Writes it when nothing has changed for a while, or at once; a push makes it a place that back comes to. */
function linkWrite() {
	const text = linkText();
	clearTimeout(link.timer);
	if (text !== link.now && !link.reads && location.protocol !== 'about:')
		history[link.push && link.now ? 'pushState' : 'replaceState'](null, '', text);
	link.now = text;
	link.push = false;
}

/* Something is to be seen, or else chosen: draws, and writes the link soon. */
function changed(push = true) {
	link.push ||= push;
	clearTimeout(link.timer);
	link.timer = setTimeout(linkWrite, 250);
	show();
}

const rangeOf = (text) => /^(-?\d+)\.\.(-?\d+)$/.exec(text ?? '')?.slice(1).map((ns) => Number(ns) - index.from);

const linkFollow = () => linkRead(location.hash.slice(1));

/* Looks at what an address says; what it does not say stays as it begins. */
async function linkRead(hash) {
	const set = new URLSearchParams(hash), [from, to] = rangeOf(set.get('view')) ?? index.look ?? [0, index.span];
	const range = rangeOf(set.get('range')), event = set.has('event') ? Number(set.get('event')) : -1;
	const text = set.get('follow') ?? set.get('search') ?? '', by = set.get('rows');
	link.reads = true;
	for (const what of ['fold', 'pin', 'hide'])
		chosen[what] = new Set(set.getAll(what));
	flow.name = set.get('flow') ?? flowFirst();
	chosen.names = set.get('names') ?? '';
	chosen.sort = Object.hasOwn(ORDERS, set.get('sort')) ? set.get('sort') : '';
	linesShow();
	if (by !== view.by && Object.hasOwn(index.views, by))
		showRows(by);
	view.top = Number(set.get('top')) || 0;
	view.notes = set.getAll('note').map((note) => /^(-?\d+) (.*)$/s.exec(note)).filter(Boolean)
		.map(([, time, words]) => ({ time: Number(time) - index.from, text: words }));
	look(from, to);
	if (text !== search.text || set.has('follow') !== search.follow)
		searchFor(text, set.has('follow'));
	view.measure = range ? { a: range[0], b: range[1] } : null;
	if (range && (drawer.range?.from !== range[0] || drawer.range?.to !== range[1]))
		rangeShow();
	else if (!range && drawer.range)
		drawerClose();
	if (event >= 0 && event < index.events && view.selected?.event !== event)
		await selectNumber(event, false).catch(() => {});
	else if (!(event >= 0) && view.selected)
		panelClose();
	clearTimeout(link.timer);
	link.now = linkText();
	link.push = link.reads = false;
	show();
}

function linkCopy() {
	linkWrite();
	/* In a page of two traces it is that page's. */
	copyText((frameElement ? parent : window).location.href);
}

/* Asks for the words of a note at a moment, or of one that is there; without words it goes. */
function noteAsk(time, note) {
	const field = element('input', { value: note?.text ?? '', placeholder: 'a note', onkeydown: (event) => {
		event.stopPropagation();
		if (event.key === 'Enter' || event.key === 'Escape')
			done(event.key === 'Enter');
	} }), x = xOf(time), box = part('note');
	const done = (keep) => {
		box.hidden = true;
		if (keep) {
			view.notes = view.notes.filter((other) => other !== note);
			if (field.value.trim())
				view.notes.push({ time, text: field.value.trim() });
			changed();
		}
		canvas.focus();
		show();
	};
	box.replaceChildren(field);
	box.hidden = false;
	box.style.left = max(GUTTER, min(x, plotRight() - 220)) + 'px';
	box.style.top = RULER + mapCanvas.offsetHeight + 'px';
	field.focus();
}
