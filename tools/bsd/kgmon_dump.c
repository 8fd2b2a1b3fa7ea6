/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/bsd/kgmon_dump.h"

#include "analyze/session/session_arcs.h"
#include "visualize/export/export.h"
#include "visualize/export/exports.h"


#define KGMON_FILE "gmon.out"

static int dump_arc(void *context, const struct ktr__called *arc)
{
	return ktr__gmon_counted(context, arc);
}

int kgmon_session_dump(struct kgmon_session *session, bool bsd, char note[KGMON_NOTE], struct ktr_error *err)
{
	const struct ktr__export_format *format = bsd ? &ktr__export_gmon_bsd : &ktr__export_gmon;
	struct ktr_reader *reader;
	struct ktr__export *export;
	struct ktr_sink *sink;
	int rc = kgmon_session_reader(session, &reader, err);

	if (rc)
		return rc;
	rc = ktr__export_begin(&export, format, reader, KGMON_FILE, err);
	if (!rc) {
		uint64_t n_uncounted;

		sink = &export->sink;
		rc = ktr__session_arcs(&session->map, dump_arc, export, &n_uncounted);
		ktr__gmon_uncounted(export, n_uncounted);
		if (!rc)
			rc = ktr_reader_walk(reader, &sink, 1);
		rc = ktr__export_end(export, rc, note, err) ? KGMON_DUMP_FAILED : 0;
	}
	ktr_reader_close(reader);
	return rc;
}
