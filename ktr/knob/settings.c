/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings: loader.conf, then the environment, into the knobs of debug.ktr.
 *
 * A mask may name application classes that are defined in modules which attach later. Such a mask is
 * put aside and tried again whenever a class is bound; if the executable itself has attached and a name
 * is still unknown, one line says so.
 */
#include "ktr/knob/settings.h"

#include "ktr/knob/knobs.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <string.h>

struct ktr__settings ktr__settings = {
	.context = { .session = &ktr__own, .own = true },
	.knobs = { .context = &ktr__settings.context }
};
static bool settings_telling; /* each error is told of */

void ktr__settings_begin(void)
{
	ktr__settings.knobs.rows = ktr__knob_rows;
	ktr__settings.knobs.n_rows = ktr__n_knob_rows;
	ktr_conf_register(&ktr__settings.conf, &ktr__settings.knobs, NULL);
}

static void settings_report(void *context, const struct ktr_error *err)
{
	(void)context;
	if (err->code == EAGAIN)
		return; /* a name the program may register later */
	/* No descriptor for one file means none for the others. */
	if (settings_telling && !(err->code == EMFILE && ktr__settings.pending.code == EMFILE))
		ktr__complain_error("settings", err);
	if (!ktr__settings.pending.code)
		ktr__settings.pending = *err;
	ktr__settings.unresolved |= err->code == EINVAL;
}

/* Reads loader.conf files and the environment into the knobs; of errors it tells when asked to. */
void ktr__settings_read(bool tell)
{
	struct ktr_source source;
	struct ktr_load load = { .source = &source, .report = settings_report };

	memset(&ktr__settings.pending, 0, sizeof(ktr__settings.pending));
	ktr__settings.unresolved = false;
	settings_telling = tell;
	ktr_source_init(&source);
	ktr_conf_load(&ktr__settings.conf, &load, NULL);
	/* Of the only setting there is the line above has said everything. */
	if (tell && ktr__settings.pending.code != EMFILE && load.n_kept + load.n_refused != 1)
		ktr__complain("settings: %u kept, %u left out", load.n_kept, load.n_refused);
	ktr__own_asked |= ktr__settings.context.early_mask != 0 || ktr__settings.pending.code ||
			  ktr__settings.context.file[0] || ktr__settings.context.enable == KTR__ENABLE_YES ||
			  ktr__settings.context.early_sites;
}

void ktr__settings_retry(bool last)
{
	if (!ktr__settings.unresolved || ktr__own.sealed)
		return;
	ktr__settings_read(false);
	/* What the kernel tells is wanted from now on, and the writer does not know yet. */
	if (!ktr__settings.unresolved && ktr__own.map && ktr__load_word(&ktr__own.control->kernel))
		ktr__own_flush();
	if (ktr__settings.pending.code && last) {
		ktr__settings_read(true);
		ktr__settings.unresolved = false;
	}
}

void ktr__settings_origins(struct ktr_origin *origins)
{
	ktr__settings.knobs.origins = origins;
}

struct ktr_conf *ktr__own_conf(void)
{
	return &ktr__settings.conf;
}
