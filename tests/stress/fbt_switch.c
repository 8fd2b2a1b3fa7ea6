/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fbt_switch SESSION TIMES SEED [FILTERS]: switches probes of functions of a program that runs, from outside, so
 * many times: by turns all, all entries, all returns, one function, on and off at random; with FILTERS 1 also which
 * of their calls are recorded. Waits each time until the program has done it. Prints how often that took longer
 * than it may.
 */
#include "ktr/control/session_join.h"
#include "ktr/provider/session/offers.h"
#include "ktr/provider/session/specs.h"

#include <stdio.h>
#include <stdlib.h>

#define WAIT_MS 10000

static const char *const spec[] = { "fbt:::", "fbt:::entry", "fbt:::return", "fbt::leaf*:", "fbt::throws*:",
				    "fbt::fib*:entry", "fbt::even*:", "fbt::yields*:", "fbt:plugin.so::",
				    "fbt_caller::fib*:", "fbt_caller::throws*:" };
#define SPECS	(sizeof(spec) / sizeof(spec[0]))
#define CALLERS 2 /* the last ones, with FILTERS alone */
#define PLUGIN	8 /* is there or not, as it comes and goes */

/* A filter, or none; the number of the change. */
static uint32_t switch_filter(struct ktr__session_rw *session, uint64_t random)
{
	static const uint64_t longer_ns[] = { 0, 0, 1, 1000, 20000, 3600000000000ull };
	static const uint64_t depth[] = { 0, 0, 1, 3, 1000 };
	struct ktr_control *control = session->control;

	__atomic_store_n(&control->fbt_longer_ns, longer_ns[random % 6], __ATOMIC_RELAXED);
	__atomic_store_n(&control->fbt_depth, depth[random / 6 % 5], __ATOMIC_RELAXED);
	__atomic_store_n(&control->fbt_within, random / 30 % 4 == 0, __ATOMIC_RELAXED);
	return ktr__offers_changed(session);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 100;
	uint64_t random = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__session_rw session;
	struct ktr__specs specs = { &session, NULL };
	unsigned long n_late = 0, n_failed = 0, n_gone = 0;
	bool filters = argc > 4 && *argv[4] == '1';
	unsigned n_specs = filters ? SPECS : SPECS - CALLERS;

	if (argc < 2 || ktr__session_join(argv[1], &session, &err)) {
		fprintf(stderr, "fbt_switch: %s\n", err.text);
		return 1;
	}
	ktr__specs_ask(&specs, spec[0], WAIT_MS);
	for (unsigned i = SPECS - CALLERS; i < n_specs; i++)
		ktr__specs_ask(&specs, spec[i], WAIT_MS);
	for (uint64_t i = 0; i < n; i++) {
		struct ktr__specs_done done;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		if (filters && random >> 60 < 6) {
			done.change = switch_filter(&session, random >> 20);
		} else {
			unsigned which = (random >> 40) % n_specs;
			int code = ktr__specs_switch(&specs, spec[which], random >> 50 & 1, &done, &err);

			*(which == PLUGIN ? &n_gone : &n_failed) += code != 0;
			if (code)
				continue;
		}
		n_late += ktr__specs_wait(&specs, done.change, WAIT_MS) != 0;
	}
	printf("%llu switches, %lu of what was unloaded, %lu late, %lu failed%s%s\n", (unsigned long long)n, n_gone,
	       n_late, n_failed, n_failed ? ": " : "", n_failed ? err.text : "");
	return n_late || n_failed;
}
