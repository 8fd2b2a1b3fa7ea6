/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What uses all three archives at once: ten events of class own, ten of a probe, and the reading of a trace. It
 * says how many events there are in that. With OBJECT it is a function of a shared object.
 */
#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/probe.h>
#include <ktr/reader.h>

#include <stdio.h>

KTR_CLASS_DEFINE(own, "of all archives");

static int events_of(const char *trace)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char text[KTR_ERROR_LINE_BYTES];
	struct ktr_reader *reader;
	struct ktr_event event;
	int what, n = 0;

	if (ktr_reader_open(trace, NULL, &reader, &err)) {
		fprintf(stderr, "%s\n", ktr_error_print(&err, text, sizeof(text)));
		return -1;
	}
	while ((what = ktr_reader_next(reader, &event)) > 0)
		n += what == KTR_READ_EVENT;
	ktr_reader_close(reader);
	return n;
}

int object(const char *trace);
int object(const char *trace)
{
	struct ktr_probe *point;

	if (ktr_probe_register(KTR_PROBE_CUSTOM, "point", "f", NULL, &point) || ktr_probe_enable(point))
		return 1;
	for (int i = 0; i < 10; i++) {
		CTR1(KTR_CLASS(own), "own %d", i);
		KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "point", i);
	}
	printf("read %d\n", events_of(trace));
	return 0;
}

#ifndef OBJECT
int main(int argc, char **argv)
{
	return object(argv[argc - 1]);
}
#endif
