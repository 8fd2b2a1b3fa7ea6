/* SPDX-License-Identifier: BSD-2-Clause */
/* Says what came of it, and what to type next. */
#include "tools/record/save.h"

#include "analyze/print/unfinished.h"
#include "analyze/rewrite/join.h"
#include "ktr/control/session_join.h"
#include "ktr/control/stats.h"
#include "ktr/session/session_rw.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "writer/keep.h"

#include <ktr/reader.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int save_session(const char *command, const struct ktr__attach *attach,
		 int (*how)(const struct ktr__attach *attach, struct ktr__drain_stats *stats,
			    struct ktr_error *err))
{
	int named = strcmp(attach->trace, FIND_TRACE) != 0;
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__drain_stats stats;
	int unfinished, rc;

	unfinished = ktr__unfinished_trace(attach->trace);
	progress_phase(command, "saving");
	rc = how(attach, &stats, &err);
	progress_end();
	ktr__unfinished_done(unfinished);
	if (rc)
		return fail_with(command, &err);
	fprintf(stderr, "ktr: %s: %llu event%s%s, %llu lost; next: ktr dump%s%s\n", attach->trace,
		(unsigned long long)stats.events, stats.events == 1 ? "" : "s",
		attach->from == KTR__DRAIN_RESUME ? " added" : "", (unsigned long long)stats.lost,
		named ? " " : "", named ? attach->trace : "");
	return 0;
}

/* The name is nobody's: a writer may have been killed in the midst of a rotation. */
static void save_adopt(const char *path)
{
	struct ktr__trace trace;

	if (!ktr__trace_init(&trace, &ktr__sys, path, KTR_PATH_RSEQ, 1, NULL))
		ktr__trace_adopt(&trace);
	ktr__trace_fini(&trace);
}

int save_find_session(const char *trace, char *path, size_t size, struct ktr_error *err)
{
	struct ktr_reader_options alone = { .size = sizeof(alone), .alone = 1 };
	struct ktr_reader *reader;
	int rc;

	if (access(trace, F_OK) && errno == ENOENT)
		save_adopt(trace);
	rc = ktr_reader_open(trace, &alone, &reader, err);
	if (rc)
		return rc;
	rc = ktr__join_find(ktr_reader_info(reader)->uuid, path, size, err);
	ktr_reader_close(reader);
	return rc == -ENOENT ? -ESRCH : rc;
}

/* Has somebody else the trace, which has all that the rings have had? */
static int save_is_elsewhere(const char *path)
{
	struct ktr__session_rw session = { .fd = -1 };
	int all = 0;

	if (ktr__session_join(path, &session, NULL) == 0)
		all = !session.control->writer && ktr__session_recorded(&session) <= session.control->writer_took;
	ktr__session_detach(&session);
	return all;
}

int save_left(const char *trace, const char *session, int there, struct ktr__drain_stats *stats,
	      struct ktr_error *err)
{
	struct ktr__attach attach = { .session = session,
				      .trace = trace,
				      .from = there ? KTR__DRAIN_RESUME : KTR__DRAIN_OLDEST,
				      .follow = KTR__FOLLOW_ALL,
				      .over = true };
	struct ktr__session_map map;
	int rc;

	if (there || !save_is_elsewhere(session))
		return ktr__snapshot_session(&attach, stats, err);
	rc = ktr__map_open(session, KTR__MAP_OWN, &map, err);
	if (!rc)
		ktr__keep_end(&map, session, true);
	ktr__map_close(&map);
	return rc;
}
