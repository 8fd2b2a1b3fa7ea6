/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of durations, counted as ktr report counts them (analyze/stats/histogram.h), so that both tell one number. */

const HISTOGRAM_STEPS = 128, HISTOGRAM_EXACT = 16;

class Histogram {
	constructor() {
		this.n = this.sum = this.max = 0;
		this.min = Infinity;
		this.exact = [];
		this.steps = new Map();	/* step to count */
	}

	static step(number) {
		if (number < HISTOGRAM_STEPS)
			return number;
		let octave = max(1, floor(log2(number)) - 6);
		octave += number >= 2 ** (octave + 7) ? 1 : number < 2 ** (octave + 6) ? -1 : 0;
		return octave * HISTOGRAM_STEPS + floor(number / 2 ** (octave - 1)) - HISTOGRAM_STEPS;
	}

	/* The middle of a step. */
	static middle(step) {
		const octave = floor(step / HISTOGRAM_STEPS), wide = 2 ** (octave - 1);
		return octave === 0 ? step : (HISTOGRAM_STEPS + step % HISTOGRAM_STEPS) * wide + floor((wide - 1) / 2);
	}

	count(number) {
		addTo(this.steps, Histogram.step(number), 1);
	}

	add(number) {
		this.n++;
		this.sum += number;
		this.min = min(this.min, number);
		this.max = max(this.max, number);
		if (this.exact?.length < HISTOGRAM_EXACT)
			return this.exact.push(number);
		for (const kept of this.exact ?? [])
			this.count(kept);
		this.exact = null;
		this.count(number);
	}

	quantile(share) {
		const rank = min(this.n, max(1, ceil(this.n * share)));
		if (this.exact)
			return this.exact.sort((a, b) => a - b)[rank - 1] ?? 0;
		let seen = 0;
		for (const step of [...this.steps.keys()].sort((a, b) => a - b)) {
			seen += this.steps.get(step);
			if (seen >= rank)
				return min(this.max, max(this.min, Histogram.middle(step)));
		}
		return this.max;
	}

	/* The same, or NaN where hardly any number lies above it. */
	tell(share) {
		return this.n * (1 - share) > 1 - 1e-9 ? this.quantile(share) : NaN;
	}

	told() {
		const { n, sum, max } = this;
		return { n, sum, mean: n ? sum / n : NaN, p50: this.tell(0.5), p99: this.tell(0.99), max };
	}
}
