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

/*
 * An expression is at(site, track): what it is for events of a call site on a track, {value} where all of them have one,
 * else {get: (part, event) => value}.
 * names: what stands right of a field may be a bare word; list: all texts that it is equal to.
 */
const ofSite = (get) => ({ at: (s) => ({ value: get(index.sites[s], s) }) });
const ofTrack = (get) => ({ at: (s, t) => ({ value: get(index.tracks[t]) }) });
const ofEvent = (get) => ({ at: () => ({ get }) });
const constantOf = (value) => ({ constant: true, at: () => ({ value }) });
const both = (a, b, make) => ({ constant: a.constant && b.constant, at: (s, t) => make(a.at(s, t), b.at(s, t)) });
const nameOf = (field, list) => ({ ...field, list, names: true });
const siteName = (key, list) => nameOf(ofSite((site) => site[key] ?? undefined), list);
const endsOf = (path) => path.split('/').map((_, i, all) => all.slice(i).join('/')).concat(path);
const timeOfEvent = (chunk, e) => BigInt(round(chunk.time[e] + index.from));

const FIELDS = {
	class: siteName('class', (site) => [site.class, ...site.class.split('|')]),
	site: siteName('name', (site, s) => [site.name, site.func, site.format, site.ident ?? site.name, String(s)]),
	file: siteName('file', (site) => endsOf(site.file)),
	module: siteName('module', (site) => endsOf(site.module)),
	func: siteName('func'),
	format: siteName('format'),
	line: ofSite((site) => BigInt(site.line)),
	kind: nameOf(ofSite((site) => KINDS[site.kind])),
	group: nameOf(ofSite((site) => site.group || undefined)),
	ident: siteName('ident'),
	...Object.fromEntries(['cpu', 'pid', 'tid', 'keep', 'approx'].map((name) => [name, ofTrack((track) => BigInt(track[name]))])),
	thread: nameOf(ofTrack((track) => track.name)),
	process: nameOf(ofTrack((track) => track.program)),
	msg: nameOf(ofEvent((chunk, e) => chunk.message(e))),
	index: ofEvent((chunk, e) => BigInt(chunk.indices()[e])),
	time: ofEvent(timeOfEvent),
	mono: ofEvent((chunk, e) => timeOfEvent(chunk, e) + BigInt(index.begin)),
	utc: ofEvent((chunk, e) => timeOfEvent(chunk, e) + BigInt(index.begin) + BigInt(index.utc)),
};

/* A site's argument, of one event; of integers also as doubles, which are as exact where they are compared with what is less than 2^53. */
function argumentOf(s, i) {
	const { type } = index.sites[s].args[i];
	return { number: !'iup'.includes(type) ? null : (chunk, e) => {
		const { halves } = chunk.column(s, i), at = 2 * chunk.ordinal[e], high = halves[at + 1];
		return (type === 'i' ? high | 0 : high) * 2 ** 32 + halves[at];
	}, get: (chunk, e) => chunk.value(e, i, false, '(null)') };
}

function ofArgument(name) {
	const position = /^arg[0-5]$/.test(name) ? Number(name[3]) : -1;
	const where = index.sites.map((site) => position >= 0 ? (position < site.args.length ? position : -1) :
		site.args.findIndex((arg) => arg.name === name));
	if (!where.some((i) => i >= 0))
		throw new Error('no field and no argument is called ' + name);
	return { at: (s) => where[s] < 0 ? {} : argumentOf(s, where[s]) };
}

/* ---- comparing ---- */

function compare(a, b) {
	if (a === undefined || b === undefined || (typeof a === 'string') !== (typeof b === 'string'))
		return undefined;
	return a < b ? -1 : a > b ? 1 : a == b ? 0 : NaN;
}

const COMPARE = { '==': (c) => c === 0, '=': (c) => c === 0, '!=': (c) => c === c && c !== 0, '<': (c) => c < 0, '<=': (c) => c <= 0,
	'>': (c) => c > 0, '>=': (c) => c >= 0 };

const LEAST64 = -(1n << 63n);
const isShort = (value) => typeof value === 'bigint' && BigInt.asIntN(53, value) === value;
const wrapped = (n) => n < LEAST64 || n > MASK64 ? BigInt.asIntN(64, n & MASK64) : n;

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

/* What is so as a number, what nobody knows as it is. */
const bit = (is) => is ? 1n : 0n;
const ifKnown = (value, make) => value === undefined ? value : make(value);

const holds = (value) => value !== undefined && (typeof value === 'string' ? value !== '' : value != 0);
const truth = (value) => ifKnown(value, (known) => bit(holds(known)));

/* Of what has no number there is no answer. */
const numberTest = (get, than, said) => (chunk, e) => {
	const n = get(chunk, e);
	return said(isNaN(n) ? undefined : n - than);
};

/* What becomes of a value; of two. */
const of1 = ({ get, value }, make) => get ? { get: (c, e) => make(get(c, e)) } : { value: make(value) };

function of2(a, b, make) {
	const [x, y] = [a, b].map(({ get, value }) => get ?? (() => value));
	return a.get || b.get ? { get: (c, e) => make(x(c, e), y(c, e)) } : { value: make(a.value, b.value) };
}

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
	at = 0;
	compares = false;
	spans = [];	/* that it asks for */

	constructor(text) {
		this.text = text;
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

	/* What stands in quotes, if that comes next. */
	quoted() {
		const quoted = this.take(QUOTED);
		return quoted ? (quoted[1] ?? quoted[2]).replace(/\\(x[0-9a-f]{1,2}|.)/gis, (_, c) =>
			c[1] ? String.fromCharCode(parseInt(c.slice(1), 16)) : { n: '\n', t: '\t' }[c] ?? c) : undefined;
	}

	/* One of these operators or words, if it comes next. */
	next(...wanted) {
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
		const decides = ({ get, value }) => !get && truth(value) === wins;
		const of = (v, w) => {
			const a = truth(v), b = a === wins ? a : truth(w);
			return b === wins || a !== undefined ? b : a;
		};
		const either = (x, y) => {
			if (decides(x) || decides(y))
				return { value: wins };
			return !x.get || !y.get ? of2(x, y, of) : { get: (c, e) => {
				const v = x.get(c, e);
				return truth(v) === wins ? wins : of(v, y.get(c, e));
			} };
		};
		let value = below();
		while (this.next(...words))
			value = both(value, below(), either);
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
		return this.made(this.not(), (value) => ifKnown(truth(value), (is) => 1n - is));
	}

	made(value, make) {
		return { constant: value.constant, at: (s, t) => of1(value.at(s, t), make) };
	}

	comparison() {
		const left = this.sum(0), op = this.next('==', '!=', '<=', '>=', '<', '>', '=', '~', '=~', '!~', 'in', 'not');
		if (!op)
			return left;
		this.compares = true;
		if (op === 'not')
			this.need('in');
		if (op === 'in' || op === 'not')
			return this.list(left, op === 'not');
		if (op.includes('~'))
			return this.match(left, op === '!~');
		const right = this.right(left), test = COMPARE[op], { list } = left;
		if (list && right.constant && ['==', '=', '!='].includes(op)) {
			const { value } = right.at();
			return { at: (s) => ({ value: bit(this.isAny(list(index.sites[s], s), value) === (op !== '!=')) }) };
		}
		const said = (order) => ifKnown(order, (known) => bit(test(known)));
		return both(left, right, (x, y) => x.number && isShort(y.value) ? { get: numberTest(x.number, Number(y.value), said) } :
			of2(x, y, (v, w) => said(compare(v, w))));
	}

	/* "net|lock" is one of two; numbers of sites are texts. */
	isAny(names, wanted) {
		const words = String(wanted);
		return names.includes(words) || words.split('|').some((word) => names.includes(word));
	}

	/* What comes next must be this. */
	need(word) {
		if (!this.next(word))
			this.fail(word + ' is missing');
	}

	/* To the right of a name a bare word is a text. */
	right(left) {
		const bare = left.names && !/["'(]/.test(this.text.slice(this.at).trimStart()[0] ?? '') ? this.take(BARE) : null;
		return bare ? constantOf(bare[0]) : this.sum(0);
	}

	list(left, negated) {
		const parts = [];
		this.need('(');
		do {
			const low = this.right(left), high = this.next('..') ? this.right(left) : null;
			if (!low.constant || !(high ?? low).constant)
				this.fail('a list has values only');
			parts.push([low, high].map((end) => end?.at().value));
		} while (this.next(','));
		this.need(')');
		return this.tested(left, negated, (is, names) => parts.some(([low, high]) => high !== undefined ?
			compare(is, low) >= 0 && compare(is, high) <= 0 : names ? this.isAny(names, low) : compare(is, low) === 0));
	}

	/* Whether test(value, all texts that it is equal to) holds; negated: does not. */
	tested(left, negated, test) {
		return { at: (s, t) => of1(left.at(s, t), (value) => ifKnown(value, (is) =>
			ifKnown(test(is, left.list?.(index.sites[s], s)), (holds) => bit(holds !== negated)))) };
	}

	match(left, negated) {
		const regex = this.take(/\/((?:[^/\\]|\\.)*)\/(\w*)/y), text = regex ?? this.take(QUOTED) ?? this.take(BARE) ?? this.fail('a pattern is missing');
		const pattern = regex ? regexOf(regex[1].replace(/\\\//g, '/'), regex[2]) : patternOf(text[1] ?? text[2] ?? text[0]);
		return this.tested(left, negated, (is, names) => typeof is !== 'string' ? undefined : (names ?? [is]).some((name) => pattern.test(name)));
	}

	/* Arithmetic, from the loosest to the tightest. */
	sum(level) {
		const levels = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '%']];
		if (level === levels.length)
			return this.unary();
		let value = this.sum(level + 1);
		for (let op; (op = this.next(...levels[level]));) {
			const sign = op;
			value = both(value, this.sum(level + 1), (x, y) => of2(x, y, (v, w) => arithmetic(sign, v, w)));
		}
		return value;
	}

	unary() {
		const sign = this.next('-', '~');
		if (!sign)
			return this.primary();
		return this.made(this.unary(), (n) => n === undefined || typeof n === 'string' ? undefined : sign === '-' ? -n :
			typeof n === 'bigint' ? ~n : undefined);
	}

	primary() {
		if (this.next('(')) {
			const value = this.or();
			this.need(')');
			return value;
		}
		const text = this.quoted();
		if (text !== undefined)
			return constantOf(text);
		const number = this.take(NUMBER);
		if (number)
			return this.number(number[0], number[1]);
		const [word] = this.take(WORD) ?? this.fail('a value is missing');
		if (word === 'span')
			return this.span();
		if (word === 'arg' && this.next('(')) {
			const name = this.quoted();
			this.need(')');
			return ofArgument(name);
		}
		return Object.hasOwn(FIELDS, word) ? FIELDS[word] : ofArgument(word);
	}

	/* The name after it is a pattern. */
	span() {
		const spans = namedSpans(this.quoted() ?? (this.take(BARE) ?? this.fail('a name is missing'))[0]);
		this.spans.push(spans);
		const number = (chunk, e) => spans.took(chunk, e);
		return { at: () => ({ number, get: (chunk, e) => {
			const took = number(chunk, e);
			return isNaN(took) ? undefined : BigInt(took);
		} }) };
	}

	number(text, unit) {
		const digits = unit ? text.slice(0, -unit.length) : text, hex = /^0x/i.test(digits);
		const value = /^0[0-7]+$/.test(digits) ? BigInt('0o' + digits.slice(1)) : hex || /^\d+$/.test(digits) ? BigInt(digits) : Number(digits);
		const scaled = !unit ? value : typeof value === 'bigint' ? value * BigInt(UNITS[unit]) : BigInt(round(value * UNITS[unit]));
		return constantOf(scaled);
	}
}

/* The events of a part for which an expression holds, as a function; an Error where it is none. */
function filterOf(text) {
	const reader = new FilterReader(text), wanted = reader.all(), tests = index.sites.map(() => []);
	if (!reader.compares)
		throw new Error('nothing is compared');
	/* Of a site's events on a track: all, none, or those for which a function says so. */
	const testOf = (s, t) => {
		const { get, value } = wanted.at(s, t);
		return get ?? holds(value);
	};
	const match = (chunk) => {
		const out = [], { site, track } = chunk;
		/* Nothing, until what it asks of spans is known. */
		const n = reader.spans.every((spans) => spans.knows(chunk.number)) ? chunk.n : 0;
		for (let e = 0; e < n; e++) {
			const test = tests[site[e]][track[e]] ??= testOf(site[e], track[e]);
			if (test === true || (test && holds(test(chunk, e))))
				out.push(e);
		}
		return out;
	};
	return Object.assign(match, { spans: reader.spans });
}
