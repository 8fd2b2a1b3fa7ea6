/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a trace has been shipped, in a folder of the shipper's own: a file NAME.state, and NAME.batch while a
 * batch is under way. Both have the same lines, and a batch its bytes after them:
 *
 *	ktr-ship 1
 *	batches 17			the last one is this
 *	finished 0
 *	version 1764361234000000000	of rows that replace others: the next have a higher one, by any clock
 *	over 52428800			no batch is left: all was told of a trace of so many bytes
 *	id 0123456789abcdef 0		of this shipping; 1: others may have shipped the trace before
 *	stream cpu_0 120034 17		the first event that has not gone when it is there, and the first that has
 *	part 0 1204511 89abcdef INSERT INTO ...	a table, so many bytes, their CRC32C, what inserts them
 *	where host = ...		what finds its first row
 *	counted 131072			so many of its rows are counted by a view
 *	fill ...			what follows the lines lies on the disk as it does in memory
 *	end 0123abcd			CRC32C of all lines before
 *
 * A batch is written beside its place, into NAME.new, synced, and moved there; when the server has it, it is moved
 * to be the state, and what was the state to be written over by the next batch: files are neither made nor removed
 * for each. What is found at a start is one of the two as a whole, and what follows it in the file means nothing.
 */
#include "tools/ship/ship_state.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "writer/format/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHIP_STATE_MAX	   ((off_t)1 << 30) /* [bytes] no batch is longer */
#define SHIP_STATE_STREAMS (1u << 16)
#define SHIP_STATE_HEAD	   "ktr-ship 1\n"
#define SHIP_STATE_END	   13 /* [bytes] of the last line */
#define SHIP_STATE_BLOCK   ((size_t)4096) /* [bytes] addresses, offsets and lengths of what a disk takes from memory
	are multiples of it */
#define SHIP_STATE_DIRECT  ((size_t)256 << 10) /* [bytes] of parts, which are worth that */

/* Memory that was used before is there already, which costs more than what is done with it. */
static struct native_buffer ship_state_spare;

int ship_batch_begin(struct ship_batch *batch)
{
	if (!batch->bytes.at) {
		batch->bytes = ship_state_spare;
		memset(&ship_state_spare, 0, sizeof(ship_state_spare));
	}
	batch->bytes.n = 0;
	native_buffer_room(&batch->bytes, SHIP_BATCH_ROOM);
	return native_buffer_take(&batch->bytes, SHIP_BATCH_HEAD) ? 0 : -ENOMEM;
}

void ship_batch_clear(struct ship_batch *batch)
{
	for (unsigned i = 0; i < batch->n_parts; i++) {
		native_buffer_free(&batch->part[i].query);
		native_buffer_free(&batch->part[i].where);
	}
	if (batch->bytes.at) {
		native_buffer_free(&ship_state_spare);
		ship_state_spare = batch->bytes;
		ship_state_spare.n = 0;
		ship_state_spare.failed = 0;
	}
	memset(batch, 0, sizeof(*batch));
}

int ship_state_stream(struct ship_state *state, const char *name)
{
	for (uint32_t i = 0; i < state->n_streams; i++)
		if (strcmp(state->stream[i].name, name) == 0)
			return (int)i;
	if (state->n_streams == SHIP_STATE_STREAMS ||
	    ktr__array_grow(&state->stream, &state->stream_room, state->n_streams, sizeof(*state->stream)))
		return -ENOMEM;
	snprintf(state->stream[state->n_streams].name, sizeof(state->stream->name), "%s", name);
	state->stream[state->n_streams].next = 0;
	state->stream[state->n_streams].first = UINT64_MAX;
	return (int)state->n_streams++;
}

/* ---- reading ---- */

struct ship_state_text {
	char *bytes;
	size_t n, at;
};

/* The next line, without its newline, which becomes a NUL; NULL: there is none. */
static char *ship_state_line(struct ship_state_text *text)
{
	char *line = text->bytes + text->at, *end = memchr(line, '\n', text->n - text->at);

	if (!end)
		return NULL;
	*end = 0;
	text->at = (size_t)(end + 1 - text->bytes);
	return line;
}

static int ship_state_part(struct ship_state *state, char *line, struct ship_state_text *text, uint64_t *n_bytes,
			   uint32_t *crc)
{
	struct ship_part *part = &state->pending.part[state->pending.n_parts];
	unsigned table;
	int at = 0;

	if (state->pending.n_parts == SHIP_PARTS_MAX || sscanf(line, "part %u %" SCNu64 " %8" SCNx32 " %n", &table,
		n_bytes, crc, &at) < 3 || !at ||
	    table >= SCHEMA_TABLES || strncmp(line + at, "INSERT INTO ", 12) != 0)
		return -EINVAL;
	state->pending.n_parts++;
	part->table = (enum schema_table)table;
	native_buffer_add(&part->query, line + at, strlen(line + at) + 1);
	line = ship_state_line(text);
	if (!line || strncmp(line, "where ", 6) != 0)
		return -EINVAL;
	native_buffer_add(&part->where, line + 6, strlen(line + 6) + 1);
	return part->query.failed || part->where.failed ? -ENOMEM : 0;
}

static int ship_state_word(struct ship_state *state, const char *line)
{
	uint64_t number, first;
	char name[40];
	int i;

	if (sscanf(line, "stream %39s %" SCNu64 " %" SCNu64, name, &number, &first) == 3) {
		i = ship_state_stream(state, name);
		if (i >= 0) {
			state->stream[i].next = number;
			state->stream[i].first = first;
		}
		return i < 0 ? i : 0;
	}
	if (sscanf(line, "counted %" SCNu64, &number) == 1) {
		if (state->pending.n_parts)
			state->pending.part[state->pending.n_parts - 1].n_counted = number;
		return 0;
	}
	if (sscanf(line, "id %16[0-9a-f] %d", state->id, &state->is_again) == 2)
		return 0;
	if (sscanf(line, "batches %" SCNu64, &number) == 1)
		state->n_batches = number;
	else if (sscanf(line, "finished %" SCNu64, &number) == 1)
		state->is_finished = number != 0;
	else if (sscanf(line, "version %" SCNu64, &number) == 1)
		state->version = number;
	else if (sscanf(line, "over %" SCNu64, &number) == 1)
		state->over_bytes = number;
	return 0;
}

/* Takes a file's lines, and with `whole` the bytes of its parts. 0, -EINVAL or -ENOMEM. */
static int ship_state_take(struct ship_state *state, struct ship_state_text *text, int whole)
{
	uint64_t n_bytes[SHIP_PARTS_MAX];
	uint32_t crcs[SHIP_PARTS_MAX];
	char *line = text->bytes;
	unsigned long crc;
	size_t before;
	int rc = 0;

	if (text->n < sizeof(SHIP_STATE_HEAD) || memcmp(text->bytes, SHIP_STATE_HEAD,
		sizeof(SHIP_STATE_HEAD) - 1) != 0)
		return -EINVAL;
	line = memmem(text->bytes, text->n, "\nend ", 5);
	if (!line || sscanf(line, "\nend %8lx\n", &crc) != 1)
		return -EINVAL;
	before = (size_t)(line + 1 - text->bytes);
	if (ktr__crc32c(0, text->bytes, before) != crc)
		return -EINVAL;
	while (!rc && text->at < before && (line = ship_state_line(text)) != NULL)
		rc = strncmp(line, "part ", 5) != 0	      ? ship_state_word(state, line)
		     : state->pending.n_parts < SHIP_PARTS_MAX ? ship_state_part(state, line, text,
									&n_bytes[state->pending.n_parts],
									&crcs[state->pending.n_parts])
							      : -EINVAL;
	ship_state_line(text); /* its end */
	if (!rc && whole)
		rc = ship_batch_begin(&state->pending);
	for (unsigned i = 0; i < state->pending.n_parts && !rc && whole; i++) {
		if (n_bytes[i] > text->n - text->at ||
		    ktr__crc32c(0, text->bytes + text->at, n_bytes[i]) != crcs[i])
			return -EINVAL;
		state->pending.part[i].at = state->pending.bytes.n;
		state->pending.part[i].n = n_bytes[i];
		native_buffer_add(&state->pending.bytes, text->bytes + text->at, n_bytes[i]);
		text->at += n_bytes[i];
		rc = state->pending.bytes.failed ? -ENOMEM : 0;
	}
	return rc || state->id[0] ? rc : -EINVAL;
}

static int ship_state_name(const struct ship_state *state, const char *suffix, char **name)
{
	return asprintf(name, "%s%s", state->path, suffix) < 0 ? -ENOMEM : 0;
}

/* Reads NAME.suffix. 0, -ENOENT, or another -errno. */
static int ship_state_load(struct ship_state *state, const char *suffix, int whole)
{
	struct ship_state_text text = { 0 };
	struct stat st;
	char *name;
	int fd, rc = ship_state_name(state, suffix, &name);

	if (rc)
		return rc;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	free(name);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : !S_ISREG(st.st_mode) || st.st_size > SHIP_STATE_MAX ? -EINVAL : 0;
	if (!rc && !(text.bytes = malloc((size_t)st.st_size + 1)))
		rc = -ENOMEM;
	if (rc) {
		close(fd);
		return rc;
	}
	while (text.n < (size_t)st.st_size) {
		ssize_t n = read(fd, text.bytes + text.n, (size_t)st.st_size - text.n);

		if (n <= 0)
			break;
		text.n += (size_t)n;
	}
	close(fd);
	text.bytes[text.n] = 0;
	rc = ship_state_take(state, &text, whole);
	free(text.bytes);
	return rc;
}

/* ---- opening ---- */

/* Folders of a path, those that are missing. */
static int ship_state_folders(const char *path)
{
	char *copy = strdup(path);
	int rc = copy ? 0 : -ENOMEM;

	for (char *at = copy ? copy + 1 : NULL; at && !rc; at++) {
		char was = *at;

		if (was != '/' && was)
			continue;
		*at = 0;
		if (mkdir(copy, 0700) && errno != EEXIST)
			rc = -errno;
		*at = was;
		if (!was)
			break;
	}
	free(copy);
	return rc;
}

static int ship_state_lock(struct ship_state *state, struct ktr_error *err)
{
	char *name;

	if (ship_state_name(state, ".lock", &name))
		return ktr_error_set(err, ENOMEM, "no memory");
	state->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (state->lock_fd < 0)
		ktr_error_at(err, name, 0, 0, errno, "%s", strerror(errno));
	else if (flock(state->lock_fd, LOCK_EX | LOCK_NB))
		ktr_error_at(err, name, 0, 0, EBUSY, "another ktr ship is at this trace");
	free(name);
	return err->code ? -EBUSY : 0;
}

/* What names the state: the trace, whose it is said to be, and where it goes. */
static int ship_state_path(struct ship *ship, struct ktr_error *err)
{
	uint64_t hash = ktr__hash_bytes(0, ship->host, strlen(ship->host));
	int rc = ship_state_folders(ship->state_folder);

	if (rc)
		return ktr_error_at(err, ship->state_folder, 0, 0, -rc, "%s", strerror(-rc));
	hash = ktr__hash_bytes(hash, ship->store->base, strlen(ship->store->base));
	hash = ktr__hash_bytes(hash, ship->store->options.database, strlen(ship->store->options.database));
	hash = ktr__hash_word(hash, (uint64_t)ship->with_events << 1 | (uint64_t)ship->with_spans);
	if (ship->filter_text)
		hash = ktr__hash_bytes(hash, ship->filter_text, strlen(ship->filter_text));
	if (asprintf(&ship->state.path, "%s/%s-%016" PRIx64, ship->state_folder, ship->trace, hash) < 0) {
		ship->state.path = NULL;
		return ktr_error_set(err, ENOMEM, "no memory");
	}
	return 0;
}

/* No other shipping of the trace has this id: servers know batches by it. */
static int ship_state_draw(struct ship_state *state, struct ktr_error *err)
{
	uint64_t id;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return ktr_error_set(err, errno, "random numbers: %m");
	snprintf(state->id, sizeof(state->id), "%016" PRIx64, id);
	return 0;
}

int ship_state_open(struct ship *ship, struct ktr_error *err)
{
	struct ship_state *state = &ship->state;
	const char *which = ".batch";
	int rc;

	memset(state, 0, sizeof(*state));
	state->lock_fd = -1;
	rc = ship_state_path(ship, err);
	if (!rc)
		rc = ship_state_lock(state, err);
	if (rc)
		return rc;
	rc = ship_state_load(state, which, 1);
	if (!rc)
		state->pending.number = state->n_batches;
	if (rc == -ENOENT) {
		which = ".state";
		rc = ship_state_load(state, which, 0);
		ship_batch_clear(&state->pending);
	}
	state->is_new = rc == -ENOENT;
	if (rc == -ENOENT) {
		state->is_again = ship->again;
		return ship_state_draw(state, err);
	}
	return rc ? ktr_error_set(err, -rc, "%s%s: is damaged: %s", state->path, which, strerror(-rc)) : 0;
}

void ship_state_close(struct ship_state *state)
{
	ship_batch_clear(&state->pending);
	if (state->lock_fd >= 0)
		close(state->lock_fd);
	free(state->stream);
	free(state->path);
	memset(state, 0, sizeof(*state));
	state->lock_fd = -1;
}

/* ---- writing ---- */

/* Is the batch written without copies being kept in memory? There is room for what fills its last block then. */
static int ship_state_is_direct(struct ship_batch *batch)
{
	return batch->n_parts && batch->bytes.n >= SHIP_BATCH_HEAD + SHIP_STATE_DIRECT &&
	       native_buffer_room(&batch->bytes, SHIP_STATE_BLOCK);
}

/* So much in a line that means nothing that `bytes` may follow the last one. */
static void ship_state_fill(struct native_buffer *out, const uint8_t *bytes)
{
	size_t n = ((uintptr_t)bytes - out->n - SHIP_STATE_END - sizeof("fill ")) % SHIP_STATE_BLOCK;
	uint8_t *to;

	native_buffer_text(out, "fill ");
	to = native_buffer_take(out, n);
	if (to)
		memset(to, '.', n);
	native_buffer_text(out, "\n");
}

static void ship_state_text(struct ship_state *state, struct native_buffer *out)
{
	char line[120];

	native_buffer_text(out, SHIP_STATE_HEAD);
	snprintf(line, sizeof(line), "batches %" PRIu64 "\nfinished %d\n", state->n_batches, state->is_finished);
	native_buffer_text(out, line);
	snprintf(line, sizeof(line), "id %s %d\n", state->id, state->is_again);
	native_buffer_text(out, line);
	snprintf(line, sizeof(line), "version %" PRIu64 "\n", state->version);
	native_buffer_text(out, line);
	if (state->over_bytes) {
		snprintf(line, sizeof(line), "over %" PRIu64 "\n", state->over_bytes);
		native_buffer_text(out, line);
	}
	for (uint32_t i = 0; i < state->n_streams; i++) {
		snprintf(line, sizeof(line), "stream %s %" PRIu64 " %" PRIu64 "\n", state->stream[i].name,
			 state->stream[i].next, state->stream[i].first);
		native_buffer_text(out, line);
	}
	for (unsigned i = 0; i < state->pending.n_parts; i++) {
		const struct ship_part *part = &state->pending.part[i];

		snprintf(line, sizeof(line), "part %u %zu %08x ", part->table, part->n,
			 ktr__crc32c(0, state->pending.bytes.at + part->at, part->n));
		native_buffer_text(out, line);
		native_buffer_text(out, (const char *)part->query.at);
		native_buffer_text(out, "\nwhere ");
		native_buffer_text(out, (const char *)part->where.at);
		snprintf(line, sizeof(line), "\ncounted %" PRIu64 "\n", part->n_counted);
		native_buffer_text(out, line);
	}
	if (ship_state_is_direct(&state->pending))
		ship_state_fill(out, state->pending.bytes.at + SHIP_BATCH_HEAD);
	if (out->failed)
		return;
	snprintf(line, sizeof(line), "end %08x\n", ktr__crc32c(0, out->at, out->n));
	native_buffer_text(out, line);
}

static int ship_state_write_all(int fd, const uint8_t *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

/* The same from blocks of memory into blocks of a new file, where that can be. What fills the last one is zero. */
static int ship_state_write_direct(int fd, uint8_t *bytes, size_t n)
{
	size_t rest = -n % SHIP_STATE_BLOCK;
	int flags = fcntl(fd, F_GETFL), rc = -EINVAL;

	memset(bytes + n, 0, rest);
	if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0) {
		rc = ship_state_write_all(fd, bytes, n + rest);
		fcntl(fd, F_SETFL, flags);
	}
	if (rc != -EINVAL)
		return rc;
	return lseek(fd, 0, SEEK_SET) ? -errno : ship_state_write_all(fd, bytes, n);
}

/* What a file has: lines, and the batch's bytes, before which there is room for most lines. */
static int ship_state_write_file(int fd, struct ship_batch *batch, const struct native_buffer *text)
{
	uint8_t *bytes = batch->bytes.at + SHIP_BATCH_HEAD;
	size_t n = batch->n_parts ? batch->bytes.n - SHIP_BATCH_HEAD : 0;
	int rc;

	if (!n || text->n > SHIP_BATCH_HEAD) {
		rc = ship_state_write_all(fd, text->at, text->n);
		return rc || !n ? rc : ship_state_write_all(fd, bytes, n);
	}
	memcpy(bytes - text->n, text->at, text->n);
	return ship_state_is_direct(batch) ? ship_state_write_direct(fd, bytes - text->n, text->n + n)
					   : ship_state_write_all(fd, bytes - text->n, text->n + n);
}

/* The folder's entries on the disk. */
static int ship_state_sync_folder(const struct ship_state *state)
{
	char *folder = strdup(state->path), *slash = folder ? strrchr(folder, '/') : NULL;
	int fd, rc = 0;

	if (!slash) {
		free(folder);
		return -ENOMEM;
	}
	*slash = 0;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	free(folder);
	return rc;
}

/* Writes NAME.suffix as a whole, and has it on the disk. */
static int ship_state_write(struct ship_state *state, const char *suffix, struct ktr_error *err)
{
	struct native_buffer text = { 0 };
	char *name = NULL, *beside = NULL;
	int fd = -1, rc = ship_state_name(state, suffix, &name);

	ship_state_text(state, &text);
	if (!rc)
		rc = ship_state_name(state, ".new", &beside);
	if (!rc && text.failed)
		rc = -ENOMEM;
	if (!rc)
		fd = open(beside, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (!rc)
		rc = fd < 0 ? -errno : ship_state_write_file(fd, &state->pending, &text);
	if (!rc && !state->pending.n_parts && ftruncate(fd, (off_t)text.n))
		rc = -errno;
	if (!rc && fdatasync(fd))
		rc = -errno;
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(beside, name))
		rc = -errno;
	if (!rc)
		rc = ship_state_sync_folder(state);
	if (rc) {
		ktr_error_at(err, name ? name : state->path, 0, 0, -rc, "%s", strerror(-rc));
		if (fd >= 0)
			unlink(beside);
	}
	native_buffer_free(&text);
	free(name);
	free(beside);
	return rc;
}

int ship_state_begin(struct ship_state *state, struct ktr_error *err)
{
	state->pending.number = ++state->n_batches;
	state->over_bytes = 0;
	return ship_state_write(state, ".batch", err);
}

int ship_state_done(struct ship_state *state, struct ktr_error *err)
{
	char *from = NULL, *to = NULL, *beside = NULL;
	int rc = ship_state_name(state, ".batch", &from);

	if (!rc)
		rc = ship_state_name(state, ".state", &to);
	if (!rc)
		rc = ship_state_name(state, ".new", &beside);
	/* In between the batch is what there is. */
	if (!rc && rename(to, beside) && errno != ENOENT)
		rc = -errno;
	if (!rc && rename(from, to))
		rc = -errno;
	if (rc)
		ktr_error_at(err, state->path, 0, 0, -rc, "%s", strerror(-rc));
	free(from);
	free(to);
	free(beside);
	ship_batch_clear(&state->pending);
	return rc;
}

int ship_state_finish(struct ship_state *state, struct ktr_error *err)
{
	return ship_state_write(state, ".state", err);
}
