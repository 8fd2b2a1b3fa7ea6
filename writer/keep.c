/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A word of the control page, control.keep_session, stored by pwrite(2): whoever records from outside maps
 * nothing. Of two that store at once one asks for nothing, and may find the session gone in its last round.
 */
#include "writer/keep.h"

#include "ktr/load/sweep.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

bool ktr__keep_put(const struct ktr__session_map *map, const char *path, size_t field, uint32_t value)
{
	uint64_t at = map->header.region[KTR_REGION_control].offset + field;
	int fd = open(path, O_RDWR | ktr__map_nofollow(path) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat ours, st;
	bool done = false;

	if (fd < 0)
		return false;
	/* Not one that has taken its place, nor one cut short, which would grow again. */
	if (fstat(fd, &st) == 0 && fstat(map->fd, &ours) == 0 && st.st_ino == ours.st_ino &&
	    st.st_dev == ours.st_dev && (uint64_t)st.st_size >= at + sizeof(value))
		done = pwrite(fd, &value, sizeof(value), (off_t)at) == (ssize_t)sizeof(value);
	close(fd);
	return done;
}

/* Did somebody end as programs do? What was killed is left as it lies. */
static bool keep_left(const struct ktr__session_map *map, const struct ktr_control *control)
{
	uint32_t n = ktr__map_n_rows(map, control, KTR_REGION_proc);
	struct ktr_proc_row row;

	for (uint32_t i = 1; i < n; i++)
		if (ktr__map_proc(map, i, &row) == 0 && row.state == KTR_ROW_GONE)
			return true;
	return false;
}

bool ktr__keep_begin(const struct ktr__session_map *map, const char *path)
{
	struct ktr_control control;

	return ktr__map_control(map, &control) == 0 && !control.keep_session &&
	       ktr__keep_put(map, path, offsetof(struct ktr_control, keep_session), KTR_KEEP_UNWRITTEN);
}

void ktr__keep_end(const struct ktr__session_map *map, const char *path, bool any)
{
	struct ktr_control control;

	if (ktr__map_control(map, &control))
		return;
	if (control.keep_session == KTR_KEEP_UNWRITTEN)
		ktr__keep_put(map, path, offsetof(struct ktr_control, keep_session), 0);
	else if (control.keep_session || !any)
		return;
	if (ktr__map_alive(map) == 0 && keep_left(map, &control))
		ktr__sweep_one(path, NULL);
}
