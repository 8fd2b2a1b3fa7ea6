/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/syscalls.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls whose result is how many bytes they have moved. */
enum syscalls_way {
	SYSCALLS_NO_DATA,
	SYSCALLS_READ,
	SYSCALLS_WRITE
};

static const struct {
	const char *call;
	enum syscalls_way way;
} syscalls_data[] = {
	{ "read", SYSCALLS_READ },
	{ "write", SYSCALLS_WRITE },
	{ "pread64", SYSCALLS_READ },
	{ "pwrite64", SYSCALLS_WRITE },
	{ "readv", SYSCALLS_READ },
	{ "writev", SYSCALLS_WRITE },
	{ "preadv", SYSCALLS_READ },
	{ "pwritev", SYSCALLS_WRITE },
	{ "preadv2", SYSCALLS_READ },
	{ "pwritev2", SYSCALLS_WRITE },
	{ "recvfrom", SYSCALLS_READ },
	{ "sendto", SYSCALLS_WRITE },
	{ "recvmsg", SYSCALLS_READ },
	{ "sendmsg", SYSCALLS_WRITE },
	{ "sendfile", SYSCALLS_WRITE },
	{ "splice", SYSCALLS_WRITE },
	{ "copy_file_range", SYSCALLS_WRITE },
	{ "getrandom", SYSCALLS_READ },
};

static enum syscalls_way syscalls_way(const char *name)
{
	for (unsigned i = 0; i < sizeof(syscalls_data) / sizeof(syscalls_data[0]); i++)
		if (strcmp(name, syscalls_data[i].call) == 0)
			return syscalls_data[i].way;
	return SYSCALLS_NO_DATA;
}

int ktr__syscalls_wants(const struct ktr_reader_site *site)
{
	return (site->kind == KTR_KIND_START || site->kind == KTR_KIND_STOP) && site->ident &&
	       strcmp(site->class_name, "syscall") == 0;
}

/* ---- rows ---- */

static void *syscalls_row(struct ktr__keyed *keyed, uint64_t a, uint64_t b, size_t n_bytes)
{
	const uint64_t key[4] = { a, b, 0, 0 };

	return ktr__keyed_get(keyed, key, n_bytes);
}

static uint64_t syscalls_hash(const char *text)
{
	return ktr__hash_bytes(0, text, strlen(text));
}

static struct ktr__syscall *syscalls_call(struct ktr__syscalls *s, const char *name)
{
	struct ktr__syscall *call = syscalls_row(&s->calls, syscalls_hash(name), 0, sizeof(*call));

	if (call)
		call->name = name;
	return call;
}

/* fd -1: a file or a peer. */
static struct ktr__syscall_object *syscalls_object(struct ktr__keyed *keyed, const struct ktr_reader_thread *thread,
						   int fd, const char *on)
{
	uint64_t whose = fd < 0 ? 0 : (uint64_t)thread->pid << 32 | (uint32_t)fd;
	const uint64_t key[4] = { syscalls_hash(on), whose, 0, 0 };
	struct ktr__syscall_object *object = ktr__keyed_find(keyed, key);
	int full = !object && keyed->n >= KTR__SYSCALLS_OBJECTS;

	if (!object)
		object = syscalls_row(keyed, full ? 0 : key[0], full ? UINT64_MAX : whose, sizeof(*object));
	if (object && !object->n) {
		snprintf(object->on, sizeof(object->on), "%s", full ? "(others)" : on);
		object->thread = thread;
		object->fd = full ? -1 : fd;
	}
	return object;
}

/* ---- an end ---- */

/* What an end says. */
struct syscalls_end {
	const char *name;
	int64_t result;
	char error[24], on[KTR__SYSCALLS_ON];
	uint64_t ns;
	int fd;
};

static void syscalls_text(const struct ktr_event *event, unsigned i, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)event->str[i].n_bytes, event->str[i].bytes ? event->str[i].bytes : "");
}

static void syscalls_read(const struct ktr_event *event, struct syscalls_end *end)
{
	const struct ktr_reader_site *site = event->site;

	for (unsigned i = 0; i < site->n_args; i++) {
		int is_text = site->in_str >> i & 1;

		if (!is_text && strcmp(site->arg[i].name, "result") == 0)
			end->result = (int64_t)event->arg[i];
		else if (is_text && strcmp(site->arg[i].name, "error") == 0)
			syscalls_text(event, i, end->error, sizeof(end->error));
		else if (is_text && strcmp(site->arg[i].name, "on") == 0)
			syscalls_text(event, i, end->on, sizeof(end->on));
	}
}

static int syscalls_add_object(struct ktr__syscall_object *object, const struct syscalls_end *end)
{
	enum syscalls_way way = end->result > 0 ? syscalls_way(end->name) : SYSCALLS_NO_DATA;

	if (!object)
		return -ENOMEM;
	object->n++;
	object->n_errors += end->error[0] != '\0';
	object->total_ns += end->ns;
	object->max_ns = end->ns > object->max_ns ? end->ns : object->max_ns;
	object->bytes_read += way == SYSCALLS_READ ? (uint64_t)end->result : 0;
	object->bytes_written += way == SYSCALLS_WRITE ? (uint64_t)end->result : 0;
	return 0;
}

static int syscalls_add_error(struct ktr__syscalls *s, const struct syscalls_end *end)
{
	struct ktr__syscall_error *error = syscalls_row(&s->errors, syscalls_hash(end->name),
							syscalls_hash(end->error), sizeof(*error));

	if (!error)
		return -ENOMEM;
	if (!error->n++) {
		error->name = end->name;
		memcpy(error->error, end->error, sizeof(error->error));
		memcpy(error->on, end->on, sizeof(error->on));
	}
	return 0;
}

static void syscalls_add_slow(struct ktr__syscalls *s, const struct syscalls_end *end,
			      const struct ktr_event *event)
{
	unsigned at = s->n_slow;

	while (at > 0 && s->slow[at - 1].ns < end->ns)
		at--;
	if (at == KTR__SYSCALLS_SLOW)
		return;
	if (s->n_slow < KTR__SYSCALLS_SLOW)
		s->n_slow++;
	memmove(&s->slow[at + 1], &s->slow[at], (s->n_slow - 1 - at) * sizeof(s->slow[0]));
	s->slow[at] = (struct ktr__syscall_slow){ end->name, event->thread, event->time_ns - end->ns, end->ns, "" };
	memcpy(s->slow[at].on, end->on, sizeof(end->on));
}

static int syscalls_ended(struct ktr__syscalls *s, struct ktr__syscall *call, const struct syscalls_end *end,
			  const struct ktr_event *event)
{
	int rc = ktr__histogram_add(&call->durations, end->ns), restarts = strcmp(end->error, "RESTART") == 0;

	call->total_ns += end->ns;
	call->n_restarts += (uint64_t)restarts;
	call->n_errors += end->error[0] && !restarts;
	call->bytes += end->result > 0 && syscalls_way(end->name) != SYSCALLS_NO_DATA ? (uint64_t)end->result : 0;
	s->n++;
	if (!rc && end->error[0] && !restarts)
		rc = syscalls_add_error(s, end);
	if (rc || !end->on[0])
		return rc;
	syscalls_add_slow(s, end, event);
	rc = syscalls_add_object(syscalls_object(&s->objects, event->thread, -1, end->on), end);
	if (!rc && end->fd >= 0)
		rc = syscalls_add_object(syscalls_object(&s->descriptors, event->thread, end->fd, end->on), end);
	return rc;
}

/* ---- events ---- */

static int syscalls_fd(const struct ktr_event *event)
{
	static const char *const names[] = { "fd",   "fildes", "epfd", "out_fd", "fd_in",
					     "fdin", "oldfd",  "ufd",  "pidfd" };

	for (unsigned i = 1; i < event->site->n_args; i++)
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (event->site->arg[i].type == KTR_ARG_I32 &&
			    strcmp(event->site->arg[i].name, names[k]) == 0)
				return (int)event->arg[i];
	return -1;
}

static int syscalls_unknown(struct ktr__syscalls *s, const char *name)
{
	struct ktr__syscall *call = syscalls_call(s, name);

	if (!call)
		return -ENOMEM;
	call->n_unknown++;
	return 0;
}

static int syscalls_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__syscalls *s = (struct ktr__syscalls *)(void *)sink;
	struct syscalls_end end = { .name = event->site->ident };
	struct ktr__syscall_open *open;
	struct ktr__syscall *call;
	int rc = 0;

	if (!ktr__syscalls_wants(event->site))
		return 0;
	if (ktr__array_grow(&s->open, &s->n_open, event->thread->id, sizeof(s->open[0])))
		return -ENOMEM;
	open = &s->open[event->thread->id];
	if (event->site->kind == KTR_KIND_START) {
		if (open->site)
			rc = syscalls_unknown(s, open->site->ident);
		*open = (struct ktr__syscall_open){ event->site, event->time_ns, syscalls_fd(event) };
		return rc;
	}
	if (!open->site || strcmp(open->site->ident, end.name) != 0)
		return syscalls_unknown(s, end.name);
	call = syscalls_call(s, end.name);
	if (!call)
		return -ENOMEM;
	syscalls_read(event, &end);
	end.ns = event->time_ns - open->from_ns;
	end.fd = open->fd;
	open->site = NULL;
	return syscalls_ended(s, call, &end, event);
}

static int syscalls_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	(void)sink;
	(void)loss;
	return 0;
}

void ktr__syscalls_init(struct ktr__syscalls *s)
{
	*s = (struct ktr__syscalls){ .sink = { syscalls_event, syscalls_loss, NULL } };
}

int ktr__syscalls_finish(struct ktr__syscalls *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->n_open && !rc; i++)
		if (s->open[i].site)
			rc = syscalls_unknown(s, s->open[i].site->ident);
	return rc;
}

void ktr__syscalls_free(struct ktr__syscalls *s)
{
	for (size_t i = 0; i < s->calls.n; i++)
		ktr__histogram_free(&((struct ktr__syscall *)(void *)s->calls.row[i])->durations);
	ktr__keyed_free(&s->calls);
	ktr__keyed_free(&s->objects);
	ktr__keyed_free(&s->descriptors);
	ktr__keyed_free(&s->errors);
	free(s->open);
}
