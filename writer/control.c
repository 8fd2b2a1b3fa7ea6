/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's control page, as the writer's thread and its successors see it.
 *
 * Whoever has the session may cut its file short, or take memory out of it; what then touches a mapping gets
 * SIGBUS, and with it the program. A process that records dies of that in its own threads; one that does not has
 * no reason to, just because it has a writer. So the thread reads by pread(2), once a round and into a copy, which
 * also means that no setting is looked at twice and found to be two things; and it stores by pwrite(2).
 */
#include "writer/control.h"

#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t control_at(const struct ktr__writer_thread *self, size_t field)
{
	return self->map.header.region[KTR_REGION_control].offset + field;
}

/* Another opening of the file that map has open, to be written to. -1: it cannot be. */
static int control_open(const struct ktr__session_map *map, const char *path)
{
	int fd = open(path, O_RDWR | ktr__map_nofollow(path) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat ours, st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && fstat(map->fd, &ours) == 0 && st.st_ino == ours.st_ino &&
	    st.st_dev == ours.st_dev)
		return fd;
	close(fd);
	return -1;
}

int ktr__control_open(struct ktr__writer_thread *self)
{
	self->control_fd = control_open(&self->map, ktr__writer.session->path);
	return ktr__map_control(&self->map, &self->control);
}

void ktr__control_close(struct ktr__writer_thread *self)
{
	if (self->control_fd >= 0)
		close(self->control_fd);
	self->control_fd = -1;
}

void ktr__control_look(struct ktr__writer_thread *self)
{
	bool cut = ktr__map_control(&self->map, &self->control) != 0;

	if (cut && !self->cut)
		ktr__message_say(&self->message, "somebody has cut the session's file short: nothing more is recorded");
	self->cut = cut;
}

/*
 * A file that was cut short would grow again. Where files may not get so long (RLIMIT_FSIZE) nobody writes to this
 * one but through a mapping; a process that records has one, as above.
 */
static void control_put(const struct ktr__writer_thread *self, size_t field, const void *value, size_t n_bytes)
{
	if (self->control_fd < 0 || self->cut)
		return;
	if (pwrite(self->control_fd, value, n_bytes, (off_t)control_at(self, field)) < 0 && errno == EFBIG &&
	    __atomic_load_n(&ktr__writer.session->records, __ATOMIC_RELAXED))
		memcpy((char *)ktr__writer.session->control + field, value, n_bytes);
}

void ktr__control_put32(struct ktr__writer_thread *self, size_t field, uint32_t value)
{
	control_put(self, field, &value, sizeof(value));
	memcpy((char *)&self->control + field, &value, sizeof(value));
}

void ktr__control_put64(struct ktr__writer_thread *self, size_t field, uint64_t value)
{
	if (memcmp((const char *)&self->control + field, &value, sizeof(value)) == 0)
		return;
	control_put(self, field, &value, sizeof(value));
	memcpy((char *)&self->control + field, &value, sizeof(value));
}
