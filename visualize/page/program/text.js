/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and messages as text. */
'use strict';

const { abs, ceil, exp, floor, log, log10, log1p, log2, max, min, round } = Math;

/* In the largest of some units that there is one of, if any, with so many digits. */
function inUnits(n, digits, units) {
	const [size, unit] = units.find(([size]) => abs(n) >= size) ?? [];
	return size && Number((n / size).toPrecision(digits)) + unit;
}

/* Four digits and a unit. */
const duration = (ns) => inUnits(ns, 4, [[1e9, ' s'], [1e6, ' ms'], [1e3, ' µs']]) ?? Number(ns.toPrecision(abs(ns) < 1 ? 3 : 6)) + ' ns';

/* Three digits of a number, for an axis: "2.99G", "-7", "0.36". */
const shortNumber = (n) => inUnits(n, 3, [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) ?? String(Number(n.toPrecision(3)));

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');


/* Seconds with all digits: "1.593 516 651 s". */
function moment(ns) {
	const scaled = BigInt(round(ns)), size = scaled < 0n ? -scaled : scaled, digits = String(size % 1000000000n).padStart(9, '0');
	return (scaled < 0n ? '-' : '') + grouped(size / 1000000000n) + '.' + digits.match(/\d{3}/g).join(' ') + ' s';
}

/* A moment of the page as one of its trace. */
const when = (time) => moment(time + index.from);

const FLAG_MINUS = 1, FLAG_PLUS = 2, FLAG_SPACE = 4, FLAG_ALT = 8, FLAG_ZERO = 16;
const NO_ARGUMENT = 255;

const field = (text, width, flags) => flags & FLAG_MINUS ? text.padEnd(width) : text.padStart(width);


/* What printf does with prefix, digits, width and precision. */
function paddedNumber(prefix, digits, width, precision, flags) {
	if (precision >= 0)
		digits = digits.padStart(precision, '0');
	else if ((flags & (FLAG_ZERO | FLAG_MINUS)) === FLAG_ZERO)
		digits = digits.padStart(width - prefix.length, '0');
	return field(prefix + digits, width, flags);
}

const signOf = (negative, flags) => negative ? '-' : flags & FLAG_PLUS ? '+' : flags & FLAG_SPACE ? ' ' : '';


/* A double in the C conversions e, f, g and a. */
function doubleText(value, conv, width, precision, flags) {
	const kind = conv.toLowerCase(), n = abs(value), negative = value < 0 || Object.is(value, -0);
	let digits, p = precision < 0 ? 6 : precision;
	if (!isFinite(value)) {
		digits = isNaN(value) ? 'nan' : 'inf';
		flags &= ~FLAG_ZERO;
	} else if (kind === 'f') {
		digits = n < 1e21 ? n.toFixed(min(p, 100)) : String(BigInt(n)) + (p ? '.' + '0'.repeat(p) : '');
	} else if (kind === 'e') {
		digits = n.toExponential(min(p, 100));
	} else if (kind === 'g') {
		p = p || 1;
		const exponent = n === 0 ? 0 : Number(n.toExponential(p - 1).split('e')[1]);
		digits = exponent < -4 || exponent >= p ? n.toExponential(p - 1) : n.toFixed(max(0, p - 1 - exponent));
		if (!(flags & FLAG_ALT))
			digits = digits.replace(/\.(\d*[1-9])?0*(?=e|$)/, (_, some) => some ? '.' + some : '');
	} else {
		digits = n.toString(16);
	}
	const text = paddedNumber(signOf(negative, flags), digits.replace(/e([+-])(\d)$/, 'e$10$2'), width, -1, flags);
	return kind === conv ? text : text.toUpperCase();
}

function pointerText(value, pid) {
	if (value === 0n)
		return '(nil)';
	const hex = BigInt.asUintN(64, value).toString(16);
	const name = index.symbols[pid + ':' + hex];
	return '0x' + hex + (name ? ' (' + name + ')' : '');
}

/* An argument of 64 bits as the conversion prints it. */
function conversion(step, values, pid) {
	const [conv, arg, shift, flagsGiven, widthGiven, precisionGiven, widthArg, precisionArg] = step;
	const given = (which, constant) => which === NO_ARGUMENT ? constant :
		max(-9999, min(9999, Number(BigInt.asIntN(32, values[which]))));
	const wide = given(widthArg, widthGiven), precision = given(precisionArg, precisionGiven), isLeft = wide < 0 && widthArg !== NO_ARGUMENT;
	const flags = flagsGiven | (isLeft ? FLAG_MINUS : 0), width = isLeft ? -wide : max(0, wide), value = values[arg];
	if (typeof value === 'string')
		return field(precision >= 0 ? value.slice(0, precision) : value, width, flags);
	if (typeof value === 'number')
		return doubleText(value, conv, width, precision, flags);
	if (conv === 'p')
		return field(pointerText(value, pid), width, flags);
	if (conv === 'c')
		return field(String.fromCharCode(Number(value & 255n)), width, flags);
	const bits = 64 - shift, digitsOf = (n, base) => n === 0n && precision === 0 ? '' : n.toString(base);
	if (!'xXobBu'.includes(conv)) {
		const n = BigInt.asIntN(bits, value);
		return paddedNumber(signOf(n < 0n, flags), digitsOf(n < 0n ? -n : n), width, precision, flags);
	}
	const n = BigInt.asUintN(bits, value), digits = digitsOf(n, { x: 16, o: 8, b: 2, u: 10 }[conv.toLowerCase()]);
	const prefix = flags & FLAG_ALT && n !== 0n ? { o: '0', u: '' }[conv] ?? '0' + conv : '';
	return paddedNumber(prefix, conv === 'X' ? digits.toUpperCase() : digits, width, precision, flags);
}

const stepsText = (steps, values, pid) => steps.map((step) => typeof step === 'string' ? step : conversion(step, values, pid)).join('');

/* The event's text, as ktr dump prints it. */
const messageOf = (site, values, pid) => stepsText(site.steps, values, pid) + site.args.map((arg, i) => arg.type === 'k' ? ': ' + values[i] : '').join('');


/* Attributes, in steps from one on; "none" is not said. */
function attributesOf(site, steps, values, pid) {
	const [first, ...more] = steps, word = 'attributes: ', at = typeof first === 'string' ? first.indexOf(word) : -1;
	const head = at >= 0 ? first.slice(at + word.length) : '';
	const text = head + stepsText(more, values, pid);
	return at < 0 || head === '' || text === 'none' ? '' : text;
}

/* States and their kin as people say them, which is how ktr dump prints them: "worker 3: waiting, shard:7". */
function saidOf(chunk, e) {
	const site = chunk.siteOf(e), values = chunk.args(e), pid = chunk.pid(e);
	const at = site.steps.findIndex((step) => typeof step !== 'string' && step[1] === site.valueArg);
	if (site.kind === KIND_EVENT || at < 0)
		return messageOf(site, values, pid);
	const key = site.kind >= KIND_START;
	const row = site.ident ?? (String(values[0]).startsWith(site.group) ? '' : site.group + ' ') + values[0];
	const word = ['', ': ', ' = ', ': point ', ' starts', ' ends'][site.kind];
	const value = key && site.ident !== null ? '' : (key ? ', key 0x' : '') + conversion(site.steps[at], values, pid);
	const more = attributesOf(site, site.steps.slice(at + 1), values, pid);
	return row + word + value + (more ? ', ' + more : '');
}

/* "1st", "22nd", "13th". */
function nth(n) {
	const end = n % 100 > 10 && n % 100 < 14 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th';
	return grouped(n) + end;
}
