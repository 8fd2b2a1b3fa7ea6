/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * knobs: a program with knobs of its own in ktr's tree. They begin as loader.conf or a default says, the
 * program reads a word when it needs one, and `ktr sysctl` shows and sets them while it runs:
 *
 *	KTR_MASK=work build/examples/knobs &
 *	ktr sysctl app				app.batch: 8, app.pause: 10ms, app.stop: 0
 *	ktr sysctl app.batch=32 app.pause=1ms
 *	ktr sysctl app.stop=1
 *
 * Two are numbers of the session; the third has a handler, which only the program itself and its
 * loader.conf reach.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

KTR_CLASS_DEFINE(work, "batches of work");

static const struct ktr_knob shared[] = {
	{ .name = "app.batch", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RWTUN, .help = "items taken at once",
	  .unit = "items", .initial = "8", .min = 1, .max = 1000 },
	{ .name = "app.pause", .type = KTR_KNOB_DURATION, .access = KTR_KNOB_RWTUN,
	  .help = "between two batches", .initial = "10ms", .max = 1000000000 },
	{ .name = "app.stop", .type = KTR_KNOB_BOOL, .access = KTR_KNOB_RW, .help = "1 ends the program",
	  .initial = "0" },
};

static char title[32] = "items";

static int title_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	snprintf(value->text, value->text_size, "%s", title);
	return 0;
}

static int title_set(const struct ktr_knob_at *at, const struct ktr_value *value, struct ktr_error *err)
{
	(void)at, (void)err;
	snprintf(title, sizeof(title), "%s", value->text);
	CTR1(KTR_CLASS(work), "they are called %s now", title);
	return 0;
}

static const struct ktr_knob own[] = {
	{ .name = "app.title", .type = KTR_KNOB_STRING, .access = KTR_KNOB_RWTUN, .help = "what items are called",
	  .max = sizeof(title) - 1, .get = title_get, .set = title_set },
};
static struct ktr_knobs table = { .rows = own, .n_rows = 1 };

int main(void)
{
	uint64_t *word[3], n = 0;
	struct ktr_error err = KTR_ERROR_NONE;
	char text[KTR_ERROR_LINE_BYTES];

	for (int i = 0; i < 3; i++)
		if (ktr_knob_add(&shared[i], &word[i], &err))
			break;
	if (err.code || ktr_conf_register(ktr_conf(), &table, &err) || ktr_set("app.title", "things", &err)) {
		fprintf(stderr, "knobs: %s\n", ktr_error_print(&err, text, sizeof(text)));
		return 1;
	}
	while (!__atomic_load_n(word[2], __ATOMIC_RELAXED)) {
		uint64_t batch = __atomic_load_n(word[0], __ATOMIC_RELAXED);
		uint64_t pause = __atomic_load_n(word[1], __ATOMIC_RELAXED);
		struct timespec ts = { (time_t)(pause / 1000000000), (long)(pause % 1000000000) };

		n += batch;
		CTR2(KTR_CLASS(work), "a batch of %" PRIu64 ", %" PRIu64 " altogether", batch, n);
		nanosleep(&ts, NULL);
	}
	printf("%" PRIu64 " %s\n", n, title);
	return 0;
}
