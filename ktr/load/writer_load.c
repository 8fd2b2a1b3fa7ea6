/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In libktr.so alone: the writer, as far as it has been loaded. A program that is never asked for a trace
 * file does not carry what packs one, nor what removes dead sessions where there are none. Linked statically
 * (libktr.a, the two-file form) the writer is part of the program, and this file is not.
 *
 * The library lies beside this one, or where the loader looks. Once loaded it stays.
 */
#include "ktr/load/resize.h"
#include "ktr/load/sweep.h"
#include "ktr/load/writer_hook.h"
#include "ktr/session/session_find.h"

#include <ktr/version.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ktr__writer_hooks *load_hooks; /* release, acquire */

static const struct ktr__writer_hooks *load_get(void)
{
	return __atomic_load_n(&load_hooks, __ATOMIC_ACQUIRE);
}

/* Beside the library this code is in; "" where that cannot be told. */
static void load_place(char path[PATH_MAX])
{
	const char *slash;
	Dl_info info;

	path[0] = '\0';
	if (!dladdr(&load_hooks, &info) || !(slash = strrchr(info.dli_fname, '/')))
		return;
	if (snprintf(path, PATH_MAX, "%.*s/" KTR__WRITER_LIBRARY, (int)(slash - info.dli_fname),
		     info.dli_fname) >= PATH_MAX)
		path[0] = '\0';
}

static const struct ktr__writer_hooks *load_library(struct ktr_error *err)
{
	const struct ktr__writer_hooks *hooks;
	char path[PATH_MAX];
	void *library;

	load_place(path);
	library = path[0] ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library)
		library = dlopen(KTR__WRITER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		ktr_error_set(err, ELIBACC, "the writer cannot be loaded: %s", dlerror());
		return NULL;
	}
	hooks = dlsym(library, "ktr__writer_hooks");
	if (!hooks || strcmp(hooks->version, KTR_VERSION_TEXT) != 0) {
		ktr_error_set(err, ELIBBAD, KTR__WRITER_LIBRARY " is of version %s, libktr of " KTR_VERSION_TEXT,
			      hooks ? hooks->version : "?");
		dlclose(library);
		return NULL;
	}
	__atomic_store_n(&load_hooks, hooks, __ATOMIC_RELEASE);
	return hooks;
}

/* As it has been loaded or is now; NULL with err filled. */
static const struct ktr__writer_hooks *load_wanted(struct ktr_error *err)
{
	const struct ktr__writer_hooks *hooks = load_get();

	return hooks ? hooks : load_library(err);
}

int ktr__writer_start(struct ktr__session_rw *session, const char *path, struct ktr_error *err)
{
	struct ktr_error own = KTR_ERROR_NONE;
	const struct ktr__writer_hooks *hooks;

	if (!err)
		err = &own;
	hooks = load_wanted(err);
	return hooks ? hooks->start(session, path, err) : -err->code;
}

int ktr__resize(struct ktr__session_rw *session, unsigned log2, struct ktr_error *err)
{
	struct ktr_error own = KTR_ERROR_NONE;
	const struct ktr__writer_hooks *hooks;

	if (!err)
		err = &own;
	hooks = load_wanted(err);
	return hooks ? hooks->resize(session, log2, err) : -err->code;
}

int ktr__writer_flush(void)
{
	const struct ktr__writer_hooks *hooks = load_get();

	return hooks ? hooks->flush() : -ESRCH;
}

void ktr__writer_stop(void)
{
	const struct ktr__writer_hooks *hooks = load_get();

	if (hooks)
		hooks->stop();
}

bool ktr__writer_leave(void)
{
	const struct ktr__writer_hooks *hooks = load_get();

	return !hooks || hooks->leave();
}

void ktr__writer_before_fork(void)
{
	const struct ktr__writer_hooks *hooks = load_get();

	if (hooks)
		hooks->before_fork();
}

void ktr__writer_after_fork_parent(void)
{
	const struct ktr__writer_hooks *hooks = load_get();

	if (hooks)
		hooks->after_fork_parent();
}

void ktr__writer_after_fork_child(void)
{
	const struct ktr__writer_hooks *hooks = load_get();

	if (hooks)
		hooks->after_fork_child();
}

void ktr__writer_thread_end(void)
{
	const struct ktr__writer_hooks *hooks = load_get();

	if (hooks)
		hooks->thread_end();
}

#define LOAD_SWEEP_BYTES (16u << 20) /* so much may be too much where shared memory has 64 MiB */

/* May there be sessions to remove? As ktr__sweep() sees it, but for whose they are. */
static bool load_sweep_due(void)
{
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;
	char dir[400];
	unsigned n = 1; /* ours */
	DIR *stream;

	if (ktr__session_dir(geteuid(), dir, sizeof(dir), NULL) || !(stream = opendir(dir)))
		return false;
	while (n <= SWEEP_COUNT && (entry = readdir(stream)))
		if (entry->d_name[0] != '.' &&
		    fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
			bytes += (uint64_t)st.st_blocks * 512;
			n++;
		}
	closedir(stream);
	return n > SWEEP_COUNT || bytes > LOAD_SWEEP_BYTES ||
	       (n > 1 && (secure_getenv("KTR_DEAD_SESSIONS") || secure_getenv("KTR_DEAD_BYTES")));
}

void ktr__sweep(const char *own)
{
	const struct ktr__writer_hooks *hooks;
	struct ktr_error err = KTR_ERROR_NONE;

	if (!load_sweep_due())
		return;
	hooks = load_wanted(&err);
	if (hooks)
		hooks->sweep(own);
}
