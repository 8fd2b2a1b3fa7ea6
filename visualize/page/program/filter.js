/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions of ktr-filter(7) over a page's events: an expression becomes a function of a part and an event in it.
 * Integers are BigInt, of 64 bits; undefined is no value.
 */

const UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 36e11, d: 864e11, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };
const KINDS = ['event', 'state', 'counter', 'point', 'start', 'stop'];
const WORD = /[A-Za-z_$][\w$]*(?:(?:\.|->)[A-Za-z_$][\w$]*|\[\w+\])*/y;
const NUMBER = /(?:0x[0-9a-f]+|\d+(?:\.(?!\.)\d*)?(?:e[+-]?\d+)?)(?:(ns|us|ms|min|s|h|d|K|M|G|T)(?!\w))?/iy;
const OPERATOR = /\|\||&&|<<|>>|==|!=|<=|>=|=~|!~|\.\.|[()!~<>=|^&+\-*/%,]/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/y;
const BARE = /[^\s()"',<>=!~]+/y;
const MASK64 = (1n << 64n) - 1n;

/* Fields; names: what stands right of them may be a bare word. */
const ofSite = (get) => ({ is: 'site', get });
const ofTrack = (get) => ({ is: 'track', get });
const ofEvent = (get) => ({ is: 'event', get });
const nameOf = (is, get, list) => ({ is, get, list, names: true });
const endsOf = (path) => path.split('/').map((_, i, all) => all.slice(i).join('/')).concat(path);
const timeOfEvent = (chunk, e) => BigInt(Math.round(chunk.time[e] + index.from));

const FIELDS = {
	class: nameOf('site', (site) => site.class, (site) => [site.class, ...site.class.split('|')]),
	site: nameOf('site', (site) => site.name, (site, s) => [site.name, site.func, site.format, site.ident ?? site.name, String(s)]),
	file: nameOf('site', (site) => site.file, (site) => endsOf(site.file)),
	module: nameOf('site', (site) => site.module, (site) => endsOf(site.module)),
	func: nameOf('site', (site) => site.func),
	format: nameOf('site', (site) => site.format),
	line: ofSite((site) => BigInt(site.line)),
	kind: nameOf('site', (site) => KINDS[site.kind]),
	group: nameOf('site', (site) => site.group || undefined),
	ident: nameOf('site', (site) => site.ident ?? undefined),
	cpu: ofTrack((track) => BigInt(track.cpu)),
	pid: ofTrack((track) => BigInt(track.pid)),
	tid: ofTrack((track) => BigInt(track.tid)),
	thread: nameOf('track', (track) => track.name),
	process: nameOf('track', (track) => track.program),
	keep: ofTrack((track) => BigInt(track.keep)),
	approx: ofTrack((track) => BigInt(track.approx)),
	msg: nameOf('event', (chunk, e) => chunk.message(e)),
	index: ofEvent((chunk, e) => BigInt(chunk.indices()[e])),
	time: ofEvent(timeOfEvent),
	mono: ofEvent((chunk, e) => timeOfEvent(chunk, e) + BigInt(index.begin)),
	utc: ofEvent((chunk, e) => timeOfEvent(chunk, e) + BigInt(index.begin) + BigInt(index.utc)),
};

function ofArgument(name) {
	const position = /^arg[0-5]$/.test(name) ? Number(name[3]) : -1;
	const where = index.sites.map((site) => position >= 0 ? (position < site.args.length ? position : -1) :
		site.args.findIndex((arg) => arg.name === name));
	if (!where.some((i) => i >= 0))
		throw new Error('no field and no argument is called ' + name);
	return { is: 'event', sites: where.map((i) => i >= 0), get: (chunk, e) => {
		const s = chunk.site[e], i = where[s];
		if (i < 0)
			return undefined;
		const arg = index.sites[s].args[i], word = chunk.values(s, i)[chunk.ordinal[e]];
		if (arg.type === 's' || arg.type === 'k')
			return chunk.string(Number(word), false, '(null)');
		return arg.type === 'f' ? doubleOf(word) : arg.type === 'i' ? BigInt.asIntN(64, word) : word;
	} };
}

/* ---- comparing ---- */

function compare(a, b) {
	if (a === undefined || b === undefined || (typeof a === 'string') !== (typeof b === 'string'))
		return undefined;
	return a < b ? -1 : a > b ? 1 : a == b ? 0 : NaN;
}

const COMPARE = { '==': (c) => c === 0, '=': (c) => c === 0, '!=': (c) => c === c && c !== 0, '<': (c) => c < 0, '<=': (c) => c <= 0,
	'>': (c) => c > 0, '>=': (c) => c >= 0 };

const wrapped = (n) => n < -(1n << 63n) || n >= 1n << 64n ? BigInt.asIntN(64, n & MASK64) : n;

const ARITHMETIC = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '%': (a, b) => a % b,
	'|': (a, b) => a | b, '^': (a, b) => a ^ b, '&': (a, b) => a & b, '<<': (a, b) => a << b, '>>': (a, b) => a >> b };

function arithmetic(op, a, b) {
	if (a === undefined || b === undefined || typeof a === 'string' || typeof b === 'string')
		return undefined;
	if (typeof a === 'number' || typeof b === 'number')
		return '+-*/'.includes(op) ? ARITHMETIC[op](Number(a), Number(b)) : undefined;
	if ((op === '/' || op === '%') && b === 0n)
		return undefined;
	if ((op === '<<' || op === '>>') && (b < 0n || b >= 64n))
		return 0n;
	return wrapped(ARITHMETIC[op](a, b));
}

const holds = (value) => value !== undefined && (typeof value === 'string' ? value !== '' : value != 0);
const truth = (value) => value === undefined ? value : holds(value) ? 1n : 0n;

/* A pattern of the shell as a regular expression. */
function patternOf(text) {
	const inner = text.replace(/[.+^${}()|\\]/g, '\\$&').replace(/\*/g, '[^]*').replace(/\?/g, '[^]').replace(/\[!/g, '[^');
	return new RegExp('^(?:' + inner + ')$', 'u');
}

function regexOf(text, flags) {
	const classes = { alpha: 'A-Za-z', digit: '0-9', alnum: 'A-Za-z0-9', upper: 'A-Z', lower: 'a-z', space: '\\s', xdigit: '0-9A-Fa-f' };
	return new RegExp(text.replace(/\[:(\w+):\]/g, (all, name) => classes[name] ?? all), flags.includes('i') ? 'si' : 's');
}

/* ---- reading ---- */

const unquoted = (quoted) => (quoted[1] ?? quoted[2]).replace(/\\(x[0-9a-f]{1,2}|.)/gis, (_, c) =>
	c[1] ? String.fromCharCode(parseInt(c.slice(1), 16)) : { n: '\n', t: '\t' }[c] ?? c);

class FilterReader {
	constructor(text) {
		this.text = text;
		this.at = 0;
		this.compares = false;
		this.spans = [];	/* that it asks for */
	}

	space() {
		while (/\s/.test(this.text[this.at] ?? ''))
			this.at++;
	}

	take(pattern) {
		this.space();
		pattern.lastIndex = this.at;
		const match = pattern.exec(this.text);
		if (match)
			this.at += match[0].length;
		return match;
	}

	/* One of these operators or words, if it comes next. */
	next(...wanted) {
		this.space();
		const before = this.at, match = this.take(OPERATOR) ?? this.take(WORD);
		if (match && wanted.includes(match[0]))
			return match[0];
		this.at = before;
		return null;
	}

	fail(why) {
		throw new Error(why + ' at ' + (this.at + 1));
	}

	all() {
		const value = this.or();
		this.space();
		if (this.at < this.text.length)
			this.fail('"' + this.text.slice(this.at, this.at + 12) + '" is not understood');
		return value;
	}

	/* One side that is what wins decides; else what has no value has none with anything. */
	joined(words, below, wins) {
		let value = below();
		while (this.next(...words))
			value = both(value, below(), (x, y) => (c, e) => {
				const a = truth(x(c, e)), b = a === wins ? a : truth(y(c, e));
				return b === wins || a !== undefined ? b : a;
			});
		return value;
	}

	or() {
		return this.joined(['or', '||'], () => this.and(), 1n);
	}

	and() {
		return this.joined(['and', '&&'], () => this.not(), 0n);
	}

	not() {
		if (!this.next('not', '!'))
			return this.comparison();
		const value = this.not();
		return { ...value, get: (c, e) => {
			const is = truth(value.get(c, e));
			return is === undefined ? is : 1n - is;
		} };
	}

	comparison() {
		const left = this.sum(0), op = this.next('==', '!=', '<=', '>=', '<', '>', '=', '~', '=~', '!~', 'in', 'not');
		if (!op)
			return left;
		this.compares = true;
		if (op === 'not' && !this.next('in'))
			this.fail('in is missing');
		if (op === 'in' || op === 'not')
			return this.list(left, op === 'not');
		if (op.includes('~'))
			return this.match(left, op === '!~');
		const right = this.right(left), test = COMPARE[op];
		const { list } = left;
		if (list && right.is === 'constant' && (op === '==' || op === '=' || op === '!='))
			return { is: left.is, get: (site, s) => {
				const is = this.isAny(list(site, s), right.get());
				return is === (op !== '!=') ? 1n : 0n;
			} };
		return both(left, right, (x, y) => (c, e) => {
			const is = compare(x(c, e), y(c, e));
			return is === undefined ? is : test(is) ? 1n : 0n;
		});
	}

	/* "net|lock" is one of two; numbers of sites are texts. */
	isAny(names, wanted) {
		const words = String(wanted);
		return names.includes(words) || words.split('|').some((word) => names.includes(word));
	}

	/* To the right of a name a bare word is a text. */
	right(left) {
		const bare = left.names && !/["'(]/.test(this.text.slice(this.at).trimStart()[0] ?? '') ? this.take(BARE) : null;
		return bare ? { is: 'constant', get: () => bare[0] } : this.sum(0);
	}

	list(left, negated) {
		const parts = [];
		if (!this.next('('))
			this.fail('( is missing');
		do {
			const low = this.right(left), high = this.next('..') ? this.right(left) : null;
			if (low.is !== 'constant' || (high ?? low).is !== 'constant')
				this.fail('a list has values only');
			parts.push([low, high]);
		} while (this.next(','));
		if (!this.next(')'))
			this.fail(') is missing');
		return { is: left.is, sites: left.sites, get: (c, e) => {
			const value = left.get(c, e), names = left.list?.(c, e);
			const is = parts.some(([low, high]) => high ? compare(value, low.get()) >= 0 && compare(value, high.get()) <= 0 :
				names ? this.isAny(names, low.get()) : compare(value, low.get()) === 0);
			return value === undefined ? value : is !== negated ? 1n : 0n;
		} };
	}

	match(left, negated) {
		const regex = this.take(/\/((?:[^/\\]|\\.)*)\/(\w*)/y), text = regex ? null : this.take(QUOTED);
		const bare = !regex && !text ? this.take(BARE) : null;
		if (!regex && !text && !bare)
			this.fail('a pattern is missing');
		const pattern = regex ? regexOf(regex[1].replace(/\\\//g, '/'), regex[2]) : patternOf(bare ? bare[0] : text[1] ?? text[2]);
		const { list } = left;
		return { is: left.is, sites: left.sites, get: (c, e) => {
			const value = left.get(c, e);
			const is = list ? list(c, e).some((name) => pattern.test(name)) : pattern.test(value);
			return typeof value !== 'string' ? undefined : is !== negated ? 1n : 0n;
		} };
	}

	/* Arithmetic, from the loosest to the tightest. */
	sum(level) {
		const levels = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '%']];
		if (level === levels.length)
			return this.unary();
		let value = this.sum(level + 1);
		for (let op; (op = this.next(...levels[level]));) {
			const sign = op;
			value = both(value, this.sum(level + 1), (x, y) => (c, e) => arithmetic(sign, x(c, e), y(c, e)));
		}
		return value;
	}

	unary() {
		const sign = this.next('-', '~');
		if (!sign)
			return this.primary();
		const value = this.unary();
		return { ...value, get: (c, e) => {
			const n = value.get(c, e);
			return n === undefined || typeof n === 'string' ? undefined : sign === '-' ? -n : typeof n === 'bigint' ? ~n : undefined;
		} };
	}

	primary() {
		if (this.next('(')) {
			const value = this.or();
			if (!this.next(')'))
				this.fail(') is missing');
			return value;
		}
		const quoted = this.take(QUOTED);
		if (quoted) {
			const text = unquoted(quoted);
			return { is: 'constant', get: () => text };
		}
		const number = this.take(NUMBER);
		if (number)
			return this.number(number[0], number[1]);
		const word = this.take(WORD)?.[0];
		if (!word)
			this.fail('a value is missing');
		if (word === 'span')
			return this.span();
		if (word === 'arg' && this.next('(')) {
			const name = this.take(QUOTED);
			if (!name || !this.next(')'))
				this.fail('a name in quotes is missing');
			return ofArgument(unquoted(name));
		}
		return Object.hasOwn(FIELDS, word) ? FIELDS[word] : ofArgument(word);
	}

	/* The name after it is a pattern. */
	span() {
		const quoted = this.take(QUOTED), text = quoted ? unquoted(quoted) : this.take(BARE)?.[0], spans = text && namedSpans(text);
		if (!spans)
			this.fail('a name is missing');
		this.spans.push(spans);
		return ofEvent((chunk, e) => {
			const { within } = chunk, took = within.get(spans) ?? spans.of(chunk);
			within.set(spans, took);
			return took[e] < 0 ? undefined : BigInt(took[e]);
		});
	}

	number(text, unit) {
		const digits = unit ? text.slice(0, -unit.length) : text, hex = /^0x/i.test(digits);
		const value = /^0[0-7]+$/.test(digits) ? BigInt('0o' + digits.slice(1)) : hex || /^\d+$/.test(digits) ? BigInt(digits) : Number(digits);
		const scaled = !unit ? value : typeof value === 'bigint' ? value * BigInt(UNITS[unit]) : BigInt(Math.round(value * UNITS[unit]));
		return { is: 'constant', get: () => scaled };
	}
}

/*
 * Two sides as one: what is of the site alone, or of the track, is found out once for each of them; else both take a
 * part and an event.
 */
function both(a, b, make) {
	const kinds = new Set([a.is, b.is].filter((is) => is !== 'constant'));
	if (kinds.size <= 1)
		return { is: [...kinds][0] ?? 'constant', get: make(a.get, b.get) };
	return { is: 'event', get: make(eventOf(a), eventOf(b)) };
}

/* What a value is of an event, whatever it is of. */
function eventOf(value) {
	if (value.is === 'constant' || value.is === 'event')
		return value.get;
	const table = index[value.is === 'site' ? 'sites' : 'tracks'].map((of, i) => value.get(of, i)), column = value.is;
	return (chunk, e) => table[chunk[column][e]];
}

/* The events of a part for which an expression holds, as a function; an Error where it is none. */
function filterOf(text) {
	const reader = new FilterReader(text), wanted = eventOf(reader.all());
	if (!reader.compares)
		throw new Error('nothing is compared');
	const match = (chunk) => {
		const out = [];
		/* Nothing, until what it asks of spans is known. */
		const n = reader.spans.every((spans) => spans.crossing) ? chunk.n : 0;
		for (let e = 0; e < n; e++)
			if (holds(wanted(chunk, e)))
				out.push(e);
		return out;
	};
	return Object.assign(match, { spans: reader.spans });
}
