/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened between two moments, in numbers: those of ktr report with --from and --to. Scopes and spans count
 * whose both ends are in it; states have the time that they were in it.
 */

/* One line of the table: of a name, or of a name and thread. */
class Line {
	constructor(kind, name, row) {
		Object.assign(this, { kind, name, row, total: 0, self: 0, event: -1, durations: new Histogram() });
	}

	add(took, self, again, event) {
		this.total += again ? 0 : took;
		this.self += self;
		if (took >= this.durations.max)
			this.event = event;
		this.durations.add(took);
	}

	told() {
		const { durations, ...more } = this;
		return { ...more, ...durations.told() };
	}
}

class Window {
	constructor(from, to) {
		Object.assign(this, { from, to, lines: new Map(), threads: new Map(), states: new Map(), classes: new Map(),
			sites: new Map(), beyond: 0, events: 0 });
		this.inner = new Map(rowsWith((row) => row.has & HAS_SPANS || row.nests)
			.map((row) => [row, new Float64Array(index.rows[row].lanes + 1)]));
		this.stays = rowsWith((row) => row.kind === 0 && row.has & HAS_STATES);
	}

	line(table, key, kind, row) {
		return kept(table, key, () => new Line(kind, kindName(kind), row));
	}

	/* Bars as their ends come by. How long a call is by itself, and whether one of its name is around it: analyze/stats/calls.c. */
	bars(k) {
		for (const [row, inner] of this.inner)
			walkSpans(row, k, Infinity, (span, level, to, told, open) => {
				const took = to - span.from, nests = isNest(row), self = max(0, took - inner[level]);
				inner[level] = 0;
				if (nests && level)
					inner[level - 1] += took;
				this.bar(row, span, to, told, self, nests && open.some((around, at) => at < level && around?.label === span.label));
			});
	}

	bar(row, span, to, told, self, again) {
		if (to < this.from || span.from >= this.to)
			return;
		if (!told || span.event < 0 || span.from < this.from || to >= this.to)
			return this.beyond++;
		const nests = isNest(row);
		const kind = kindOf({ what: nests ? 'scope' : 'span', row, label: span.label });
		const key = nests ? 's' + span.label : kind.group + '/' + kind.ident;
		this.line(this.lines, key, kind, row).add(to - span.from, self, again, span.event);
		if (nests)
			this.line(this.threads, row + key, kind, row).add(to - span.from, self, again, span.event);
	}

	states_(k) {
		const part = stretchOf(k);
		for (const row of this.stays)
			eachState(row, wholePart(k), (from, to, label) => {
				const a = max(from, this.from, part.from), b = min(knownUntil(row, from, to), this.to, part.to);
				if (label && b > a)
					addTo(this.states, row + '/' + label, b - a);
			});
	}

	counts(k) {
		const chunk = chunks.get(k), count = new Float64Array(index.sites.length);
		for (let e = 0; e < chunk.n; e++)
			if (chunk.time[e] >= this.from && chunk.time[e] < this.to)
				count[chunk.site[e]]++;
		count.forEach((n, s) => {
			if (!n)
				return;
			this.events += n;
			addTo(this.sites, s, n);
			addTo(this.classes, index.sites[s].class, n);
		});
	}

	told() {
		const rows = new Map(), told = (lines) => [...lines.values()].map((line) => line.told());
		for (const [key, ns] of this.states)
			addTo(rows, Number(key.split('/')[0]), ns);
		return { from: this.from, to: this.to, beyond: this.beyond, events: this.events,
			lines: told(this.lines), threads: told(this.threads),
			states: [...this.states].map(([key, ns]) => {
				const [row, label] = key.split('/').map(Number);
				return { row, label, ns, share: ns / rows.get(row) };
			}),
			classes: [...this.classes], sites: [...this.sites] };
	}
}

function windowTask({ from, to }, task) {
	const window = new Window(from, to);
	return eachPart(partAt(from), partAt(to), task, (k) => {
		window.bars(k);
		window.states_(k);
		window.counts(k);
	}, () => window.told());
}
