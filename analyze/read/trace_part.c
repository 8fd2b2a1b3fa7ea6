/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of one stream; see trace_cursor.h. */
#include "analyze/read/trace_part.h"

#include "analyze/read/source.h"
#include "analyze/read/trace_cursor.h"
#include "analyze/read/trace_set.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <string.h>

int ktr__trace_add_part(struct ktr__trace_cursor *t, const struct ktr__trace_part *part)
{
	if (ktr__array_grow(&t->part, &t->part_room, t->n_parts, sizeof(*part)))
		return -ENOMEM;
	t->part[t->n_parts++] = *part;
	return 0;
}

unsigned ktr__trace_find_part(const struct ktr__trace_cursor *t, uint64_t time_ns)
{
	unsigned i;

	if (t->back) {
		for (i = t->n_parts - 1; i && t->part[i].first_ns >= time_ns; i--)
			;
		return i;
	}
	for (i = 0; i + 1 < t->n_parts && t->part[i].last_ns < time_ns; i++)
		;
	return i;
}

int ktr__trace_adjoins(const struct ktr__trace_cursor *t, unsigned i)
{
	if (!i || t->part[i - 1].member + 1 != t->part[i].member || t->part[i - 1].is_cut || t->part[i].is_cut)
		return 0;
	return ktr__set_adjoins(&t->c.source->set->member[t->part[i].member]);
}

int ktr__trace_open_part(struct ktr__trace_cursor *t, unsigned i)
{
	struct ktr__trace_part *part = &t->part[i];
	struct ktr__trace_dir *member = &t->c.source->set->member[part->member];
	int rc = ktr__set_enter(t->c.source->set, member, t->c.source->info.path), left;

	if (rc < 0)
		return rc;
	left = member->dir_fd < 0; /* and was removed: it cannot be opened */
	rc = 0;
	if (!t->opened || t->file.fd < 0 || t->at_part != i) {
		ktr__packets_close(&t->file);
		rc = ktr__packets_open(&t->file, member->dir_fd, t->name);
		if (rc == -ENOENT && ktr__set_is_removed(member) && ktr__set_use_kept(t->c.source->set, member))
			rc = ktr__packets_open(&t->file, member->dir_fd, t->name);
	}
	if (rc == -ENOMEM)
		return rc;
	t->file.patience = member->head.is_written ? KTR__PACKETS_PATIENCE : 0;
	/* Files that stay empty are removed when a directory is left. */
	part->is_cut |= rc && part->n_bytes && (left || ktr__set_is_removed(member));
	if (rc && part->n_bytes && part->is_cut)
		ktr__source_note(t->c.source, 0, "%s/%s: was removed before it was read", member->path, t->name);
	else if (rc && part->n_bytes)
		ktr__source_note(t->c.source, 1, "%s/%s: %s", member->path, t->name, strerror(-rc));
	if (t->file.n_bytes > part->n_bytes)
		t->file.n_bytes = part->n_bytes;
	if (t->opened && t->at_part != i) {
		t->crossed = 1;
		/* Losses are counted anew in each part, packets too; events are not. */
		t->seq = t->discarded = 0;
	}
	t->opened = 1;
	t->at_part = i;
	t->in_packet = 0;
	t->next = t->back ? t->file.n_bytes : 0;
	return 0;
}
