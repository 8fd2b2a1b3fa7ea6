/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Expressions of ktr-filter(7) over a page's events: an expression becomes a function of a part and an event in it.
 * Integers are BigInt, of 64 bits; undefined is no value. What a page does not know (module, index, span) is an error.
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
const timeOfEvent = (chunk, e) => BigInt(Math.round(chunk.time[e] + index.from));

const FIELDS = {
	class: nameOf('site', (site) => site.class, (site) => [site.class, ...site.class.split('|')]),
	site: nameOf('site', (site) => site.name, (site, s) => [site.name, site.func, site.format, site.ident ?? site.name, String(s)]),
	file: nameOf('site', (site) => site.file, (site) => site.file.split('/').map((_, i, all) => all.slice(i).join('/')).concat(site.file)),
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
	time: ofEvent(timeOfEvent),
	mono: ofEvent((chunk, e) => timeOfEvent(chunk, e) + BigInt(index.begin)),
	utc: ofEvent((chunk, e) => timeOfEvent(chunk, e) + BigInt(index.begin) + BigInt(index.utc)),
};
const NOT_HERE = ['module', 'index', 'span'];

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
			return chunk.string(Number(word), false);
		return arg.type === 'f' ? doubleOf(word) : arg.type === 'i' ? BigInt.asIntN(64, word) : word;
	} };
}

/* ---- comparing ---- */

function compare(a, b) {
	if (a === undefined || b === undefined || (typeof a === 'string') !== (typeof b === 'string'))
		return NaN;
	return a < b ? -1 : a > b ? 1 : a == b ? 0 : NaN;
}

const COMPARE = { '==': (c) => c === 0, '=': (c) => c === 0, '!=': (c) => c === c && c !== 0, '<': (c) => c < 0, '<=': (c) => c <= 0,
	'>': (c) => c > 0, '>=': (c) => c >= 0 };

const wrapped = (n) => n < -(1n << 63n) || n >= 1n << 64n ? BigInt.asIntN(64, n & MASK64) : n;

function arithmetic(op, a, b) {
	if (a === undefined || b === undefined || typeof a === 'string' || typeof b === 'string')
		return undefined;
	if (typeof a === 'number' || typeof b === 'number') {
		const [x, y] = [Number(a), Number(b)];
		return { '+': x + y, '-': x - y, '*': x * y, '/': x / y }[op];
	}
	if ((op === '/' || op === '%') && b === 0n)
		return undefined;
	if (op === '<<' || op === '>>')
		return b < 0n || b >= 64n ? 0n : wrapped(op === '<<' ? a << b : a >> b);
	const ops = { '+': () => a + b, '-': () => a - b, '*': () => a * b, '/': () => a / b, '%': () => a % b, '|': () => a | b,
		'^': () => a ^ b, '&': () => a & b };
	return wrapped(ops[op]());
}

const holds = (value) => value !== undefined && (typeof value === 'string' ? value !== '' : value != 0);

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

class FilterReader {
	constructor(text) {
		this.text = text;
		this.at = 0;
		this.compares = false;
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

	joined(words, below, make) {
		let value = below();
		while (this.next(...words))
			value = make(value, below());
		return value;
	}

	or() {
		return this.joined(['or', '||'], () => this.and(), (a, b) => both(a, b, (x, y) => (...at) => holds(x(...at)) || holds(y(...at)) ? 1n : 0n));
	}

	and() {
		return this.joined(['and', '&&'], () => this.not(), (a, b) => both(a, b, (x, y) => (...at) => holds(x(...at)) && holds(y(...at)) ? 1n : 0n));
	}

	not() {
		if (!this.next('not', '!'))
			return this.comparison();
		const value = this.not();
		return { ...value, get: (...at) => holds(value.get(...at)) ? 0n : 1n };
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
		return both(left, right, (x, y) => (...at) => test(compare(x(...at), y(...at))) ? 1n : 0n);
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
		return { is: left.is, sites: left.sites, get: (...at) => {
			const value = left.get(...at), names = left.list?.(...at);
			const is = parts.some(([low, high]) => high ? compare(value, low.get(...at)) >= 0 && compare(value, high.get(...at)) <= 0 :
				names ? this.isAny(names, low.get(...at)) : compare(value, low.get(...at)) === 0);
			return (value !== undefined && is) !== negated ? 1n : 0n;
		} };
	}

	match(left, negated) {
		const regex = this.take(/\/((?:[^/\\]|\\.)*)\/(\w*)/y), text = regex ? null : this.take(QUOTED);
		const bare = !regex && !text ? this.take(BARE) : null;
		if (!regex && !text && !bare)
			this.fail('a pattern is missing');
		const pattern = regex ? regexOf(regex[1].replace(/\\\//g, '/'), regex[2]) : patternOf(bare ? bare[0] : text[1] ?? text[2]);
		const { list } = left;
		return { is: left.is, sites: left.sites, get: (...at) => {
			const value = left.get(...at);
			const is = list ? list(...at).some((name) => pattern.test(name)) : typeof value === 'string' && pattern.test(value);
			return (typeof value === 'string' && is) !== negated ? 1n : 0n;
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
			value = both(value, this.sum(level + 1), (x, y) => (...at) => arithmetic(sign, x(...at), y(...at)));
		}
		return value;
	}

	unary() {
		const sign = this.next('-', '~');
		if (!sign)
			return this.primary();
		const value = this.unary();
		return { ...value, get: (...at) => {
			const n = value.get(...at);
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
			const text = (quoted[1] ?? quoted[2]).replace(/\\(x[0-9a-f]{1,2}|.)/gi, (_, c) =>
				c[0] === 'x' ? String.fromCharCode(parseInt(c.slice(1), 16)) : { n: '\n', t: '\t' }[c] ?? c);
			return { is: 'constant', get: () => text };
		}
		const number = this.take(NUMBER);
		if (number)
			return this.number(number[0], number[1]);
		const word = this.take(WORD)?.[0];
		if (!word)
			this.fail('a value is missing');
		if (NOT_HERE.includes(word))
			this.fail(word + ' is not known on a page');
		if (word === 'arg' && this.next('(')) {
			const name = this.take(QUOTED);
			if (!name || !this.next(')'))
				this.fail('a name in quotes is missing');
			return ofArgument(name[1] ?? name[2]);
		}
		return Object.hasOwn(FIELDS, word) ? FIELDS[word] : ofArgument(word);
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
	return (chunk) => {
		const out = [];
		for (let e = 0; e < chunk.n; e++)
			if (holds(wanted(chunk, e)))
				out.push(e);
		return out;
	};
}
