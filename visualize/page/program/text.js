/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and messages as text. */
'use strict';

const { ceil, floor, max, min, round } = Math;

/* Three digits and a unit. */
function duration(ns) {
	const sign = ns < 0 ? '-' : '';
	const n = Math.abs(ns);
	const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
	for (const [size, unit] of units)
		if (n >= size)
			return sign + Number((n / size).toPrecision(unit === 'ns' ? 6 : 4)) + ' ' + unit;
	return Number(n.toPrecision(3)) + ' ns';
}

/* Three digits of a number, for an axis: "2.99G", "-7", "0.36". */
function shortNumber(n) {
	for (const [size, unit] of [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
		if (Math.abs(n) >= size)
			return Number((n / size).toPrecision(3)) + unit;
	return String(Number(n.toPrecision(3)));
}

function grouped(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/* Seconds with as many digits as the step between two ticks needs: "1.593 516 651 s". */
function moment(ns, step) {
	let digits = 0;
	for (let size = 1e9; digits < 9 && step < size; size /= 1000)
		digits += 3;
	const scaled = BigInt(round(ns));
	const abs = scaled < 0n ? -scaled : scaled;
	const part = String(abs % 1000000000n).padStart(9, '0').slice(0, digits);
	return (scaled < 0n ? '-' : '') + grouped(abs / 1000000000n) +
		(digits ? '.' + part.match(/\d{3}/g).join(' ') : '') + ' s';
}

const FLAG_MINUS = 1, FLAG_PLUS = 2, FLAG_SPACE = 4, FLAG_ALT = 8, FLAG_ZERO = 16;
const NO_ARGUMENT = 255;

function field(text, width, flags) {
	return flags & FLAG_MINUS ? text.padEnd(width) : text.padStart(width);
}

/* What printf does with prefix, digits, width and precision. */
function paddedNumber(prefix, digits, width, precision, flags) {
	if (precision >= 0)
		digits = digits.padStart(precision, '0');
	else if ((flags & (FLAG_ZERO | FLAG_MINUS)) === FLAG_ZERO)
		digits = digits.padStart(width - prefix.length, '0');
	return field(prefix + digits, width, flags);
}

function signOf(negative, flags) {
	return negative ? '-' : flags & FLAG_PLUS ? '+' : flags & FLAG_SPACE ? ' ' : '';
}

/* A double in the C conversions e, f, g and a. */
function doubleText(value, conv, width, precision, flags) {
	const upper = conv === conv.toUpperCase();
	const kind = conv.toLowerCase();
	const negative = value < 0 || Object.is(value, -0);
	let digits, p = precision < 0 ? 6 : precision, n = Math.abs(value);
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
	digits = digits.replace(/e([+-])(\d)$/, 'e$10$2');
	const text = paddedNumber(signOf(negative, flags), digits, width, -1, flags);
	return upper ? text.toUpperCase() : text;
}

function pointerText(value, pid) {
	if (value === 0n)
		return '(nil)';
	const hex = value.toString(16);
	const name = index.symbols[pid + ':' + hex];
	return '0x' + hex + (name ? ' (' + name + ')' : '');
}

/* An argument of 64 bits as the conversion prints it. */
function conversion(step, values, pid) {
	const [conv, arg, shift, flagsGiven, widthGiven, precisionGiven, widthArg, precisionArg] = step;
	let flags = flagsGiven;
	const given = (which, constant) => which === NO_ARGUMENT ? constant :
		max(-9999, min(9999, Number(BigInt.asIntN(32, values[which]))));
	let width = given(widthArg, widthGiven), precision = given(precisionArg, precisionGiven);
	if (width < 0) {
		flags |= widthArg !== NO_ARGUMENT ? FLAG_MINUS : 0;
		width = widthArg !== NO_ARGUMENT ? -width : 0;
	}
	const value = values[arg];
	if (typeof value === 'string')
		return field(precision >= 0 ? value.slice(0, precision) : value, width, flags);
	if (typeof value === 'number')
		return doubleText(value, conv, width, precision, flags);
	if (conv === 'p')
		return field(pointerText(value, pid), width, flags);
	if (conv === 'c')
		return field(String.fromCharCode(Number(value & 255n)), width, flags);
	const bits = 64 - shift;
	if (!'xXobBu'.includes(conv)) {
		const n = BigInt.asIntN(bits, value);
		const digits = String(n < 0n ? -n : n);
		return paddedNumber(signOf(n < 0n, flags), digits === '0' && precision === 0 ? '' : digits,
			width, precision, flags);
	}
	const n = BigInt.asUintN(bits, value);
	const base = { x: 16, X: 16, o: 8, b: 2, B: 2, u: 10 }[conv];
	let digits = n.toString(base), prefix = '';
	if (flags & FLAG_ALT && n !== 0n)
		prefix = { x: '0x', X: '0X', o: '0', b: '0b', B: '0B', u: '' }[conv];
	if (digits === '0' && precision === 0)
		digits = '';
	return paddedNumber(prefix, conv === 'X' ? digits.toUpperCase() : digits, width, precision, flags);
}

/* The event's text, as ktr dump prints it. */
function messageOf(site, values, pid) {
	let text = '';
	for (const step of site.steps)
		text += typeof step === 'string' ? step : conversion(step, values, pid);
	site.args.forEach((arg, i) => {
		if (arg.type === 'k')
			text += ': ' + values[i];
	});
	return text;
}

/* Attributes, in steps from one on; "none" is not said. */
function attributesOf(site, steps, values, pid) {
	const [first, ...more] = steps, word = 'attributes: ', at = typeof first === 'string' ? first.indexOf(word) : -1;
	const head = at >= 0 ? first.slice(at + word.length) : '';
	const text = head + more.map((step) => typeof step === 'string' ? step : conversion(step, values, pid)).join('');
	return at < 0 || head === '' || text === 'none' ? '' : text;
}

/* States and their kin as people say them, which is how ktr dump prints them: "worker 3: waiting, shard:7". */
function saidText(site, values, pid) {
	const at = site.steps.findIndex((step) => typeof step !== 'string' && step[1] === site.valueArg);
	if (site.kind === KIND_EVENT || at < 0)
		return messageOf(site, values, pid);
	const key = site.kind === KIND_START || site.kind === KIND_STOP;
	const row = site.ident ?? (String(values[0]).startsWith(site.group) ? '' : site.group + ' ') + values[0];
	const word = ['', ': ', ' = ', ': point ', ' starts', ' ends'][site.kind];
	const value = key && site.ident !== null ? '' : (key ? ', key 0x' : '') + conversion(site.steps[at], values, pid);
	const more = attributesOf(site, site.steps.slice(at + 1), values, pid);
	return row + word + value + (more ? ', ' + more : '');
}

function saidOf(chunk, e) {
	return saidText(chunk.siteOf(e), chunk.args(e), chunk.pid(e));
}

/* "1st", "22nd", "13th". */
function nth(n) {
	const end = n % 100 > 10 && n % 100 < 14 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th';
	return grouped(n) + end;
}
