/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The drawer below the plot: what happened in a range, as tables that are sorted by a click on a column's head, and the
 * hits of a search as a list.
 */

const DRAWER_ROWS = 500;
const drawer = { tab: 'names', window: null, range: null, asked: null, sort: {}, listed: '' };	/* of which search how many lines */

const column = (head, get, show = String, title = '') => ({ head, get, show, title });
const ns = (n) => isNaN(n) ? '-' : duration(round(n));
const percent = (share) => (100 * share).toFixed(share < 0.1 ? 2 : 1) + ' %';
const durations = [column('count', (l) => l.n, grouped), column('total', (l) => l.total, ns, words('twice')),
	column('self', (l) => l.self, ns, 'without the scopes within'), ...['mean', 'p50', 'p99', 'max'].map((what) => column(what, (l) => l[what], ns))];
const nameColumn = column('name', (l) => l.name), ofBars = { by: 'self', go: (l) => selectNumber(l.event) };
const rowName = (row) => index.rows[row].ident;

/* Of each tab its columns, which column it is sorted by, what a click on a line does, and options of ktr report. */
const tabs = {
	names: { ...ofBars, title: 'names', columns: [nameColumn, ...durations],
		command: () => drawer.window.lines.some((l) => l.kind.what === 'scope') ? ' --functions' : '' },
	threads: { ...ofBars, title: 'by thread', columns: [column('thread', (l) => rowName(l.row)), nameColumn, ...durations],
		command: () => ' --functions' },
	states: { title: 'states', columns: [column('row', (s) => index.rows[s.row].group + ' ' + rowName(s.row)), column('state', (s) => index.labels[s.label]),
		column('time', (s) => s.ns, ns), column('share', (s) => s.share, percent)], by: 'time',
	go: (s) => rowIntoSight(s.row) },
	classes: { title: 'classes', columns: [column('class', (c) => c[0]), column('events', (c) => c[1], grouped),
		column('share', (c) => c[1] / drawer.window.events, percent)], by: 'events',
	go: (c) => searchFor('class == "' + c[0] + '"') },
	sites: { title: 'call sites', columns: [column('call site', ([s]) => index.sites[s].name), column('class', ([s]) => index.sites[s].class),
		column('format', ([s]) => index.sites[s].format), column('events', (c) => c[1], grouped)], by: 'events',
	go: ([s]) => searchFor('site == "' + index.sites[s].name + '"') },
	hits: { title: 'hits', columns: [column('time', (h) => h[1], when),
		column('thread', (h) => threadName(index.tracks[h[2]])), column('text', (h) => h[3])], by: '',
	go: (h) => selectNumber(h[0]) },
};

const linesOf = (tab) => tab === 'hits' ? search.list : drawer.window?.[tab === 'names' ? 'lines' : tab] ?? [];

function searchFor(text, follow) {
	part('search').value = text;
	searchStart(text, follow);
}

function rowIntoSight(row) {
	lineIntoSight(lineOfRow(row));
	show();
}

/* The words for the shell that have the same numbers. */
function commandText() {
	const { from, to } = drawer.range, at = (time) => round(time + index.from) + 'ns';
	const trace = /^[\w./+:@%-]+$/.test(index.trace) ? index.trace : "'" + index.trace.replace(/'/g, "'\\''") + "'";
	return 'ktr report' + (tabs[drawer.tab].command?.() ?? '') + ' --from=' + at(max(0, from)) + ' --to=' + at(to) + ' --top=0' +
		(index.options ? ' ' + index.options : '') + ' ' + trace;
}

/* The words of a link or a command stand on the screen; where a browser lets no page copy they are copied by hand. */
function copyText(text) {
	(navigator.clipboard?.writeText(text) ?? Promise.reject()).then(() => hint('copied: ' + text), () => hint(text));
}

/* {head, down: the largest first}. */
const sortNow = () => drawer.sort[drawer.tab] ?? { head: tabs[drawer.tab].by, down: true };

function sorted(tab) {
	const { head, down } = sortNow();
	const by = tab.columns.find((c) => c.head === head), lines = [...linesOf(drawer.tab)];
	if (!by)
		return lines;
	const order = (a, b) => {
		const [x, y] = [by.get(a), by.get(b)];
		return typeof x === 'string' ? x.localeCompare(y, 'en', { numeric: true }) : (isNaN(x) ? -1 : x) - (isNaN(y) ? -1 : y);
	};
	return lines.sort((a, b) => down ? order(b, a) : order(a, b));
}

function sortBy(head) {
	const now = sortNow(), { columns } = tabs[drawer.tab], [line] = linesOf(drawer.tab), text = line && typeof columns.find((c) => c.head === head).get(line) === 'string';
	drawer.sort[drawer.tab] = { head, down: now.head === head ? !now.down : !text };
	drawerShow();
}

const listed = ({ length }) => search.run + '/' + length;

function drawerTable(tab) {
	const lines = sorted(tab), by = sortNow();
	const head = element('tr', '', ...tab.columns.map((c) => columnHead(c.head, c.title, by, sortBy)));
	drawer.listed = listed(lines);
	const rows = lines.slice(0, DRAWER_ROWS).map((line) => element('tr', pressed(() => tab.go(line)), ...tab.columns.map(({ get, show }) =>
		element('td', typeof get(line) === 'number' ? 'number' : '', show(get(line))))));
	const more = lines.length > DRAWER_ROWS ? [element('p', '', 'and ' + grouped(lines.length - DRAWER_ROWS) + ' more lines')] : [];
	return [element('table', '', element('thead', '', head), element('tbody', '', ...rows)), ...more];
}

/* What the drawer has: tabs that have something in them, and the table of the chosen one. */
function drawerShow() {
	const { window: of, range } = drawer, full = Object.keys(tabs).filter((name) => linesOf(name).length), node = part('drawer');
	if (!full.includes(drawer.tab) && (of || !range))
		drawer.tab = full[0] ?? 'names';
	node.hidden = !full.length && !range;
	if (node.hidden)
		return;
	const heads = full.map((name) => {
		const tab = button(tabs[name].title, '', () => { drawer.tab = name; drawerShow(); }, { ariaPressed: String(name === drawer.tab) });
		tab.dataset.tab = name;
		return tab;
	});
	const said = !range ? '' : when(range.from) + ' to ' + when(range.to) + ': ' + duration(range.to - range.from) +
		(of ? ', ' + grouped(of.events) + ' events' + (of.beyond ? '; ' + grouped(of.beyond) + words('ends') : '') : ' …');
	part('copy').hidden = !of || drawer.tab === 'hits';
	put('report', part('copy').hidden ? '' : commandText());
	part('tabs').replaceChildren(...heads);
	put('told', drawer.tab === 'hits' ? hitsSaid() : said);
	part('lines').replaceChildren(...full.includes(drawer.tab) ? drawerTable(tabs[drawer.tab]) : [element('p', '', of ? words('nothing') : '…')]);
}

function drawerClose() {
	drawer.asked?.stop();
	Object.assign(drawer, { window: null, range: null, asked: null });
	view.measure = null;
	part('drawer').hidden = true;
	changed(false);
}

/* Asks for what happened in the range that is measured. */
async function rangeShow() {
	const [a, b] = measured(), range = { from: max(0, floor(a)), to: max(floor(a) + 1, ceil(b)) };
	drawer.asked?.stop();
	Object.assign(drawer, { range, window: null, tab: drawer.tab === 'hits' ? 'names' : drawer.tab });
	drawerShow();
	changed(false);
	const asked = drawer.asked = ask('window', range);
	const told = await asked;
	if (drawer.asked !== asked || !told)
		return;
	drawer.window = told;
	drawerShow();
	show();
}

const hitsSaid = () => search.total > search.list.length ? 'the first ' + grouped(search.list.length) + ' of ' + grouped(search.total) : '';

/* The list of hits, as they come; where it has no more than before only their number changes. */
function hitsShow() {
	const full = drawer.tab === 'hits' && drawer.listed === listed(search.list);
	if (search.list.length && !drawer.range)
		drawer.tab = 'hits';
	if (full)
		put('told', hitsSaid());
	else if (drawer.tab === 'hits' || !part('drawer').hidden)
		drawerShow();
}
