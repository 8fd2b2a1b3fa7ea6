/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where settings come from at start: the search for files, then the environment, applied to a
 * tree in that order.
 *
 * The order of files is in ktr/conf.h. Each later one overrides what an earlier one set, the
 * environment overrides files, and neither undoes what the program set by a call before (the rank
 * of origins, knob.c). A process that runs with more rights than whoever started it believes
 * nothing that the starter could have chosen: not the environment, not the name it was called by.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* program_invocation_short_name, program_invocation_name(3) */
#endif
#include "conf/loader.h"
#include "conf/loader_file.h"
#include "conf/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef KTR_SYSCONFDIR
#define KTR_SYSCONFDIR "/etc"
#endif

/* [bytes] Longer paths of the search are errors; KTR_CONF itself may be of any length. */
#define SEARCH_PATH_BYTES 1024

static const char *search_getenv(const char *name)
{
	return getenv(name);
}

/* The executable's name from the kernel, for processes whose argv is not to be trusted. */
static const char *search_executable(struct ktr_source *source)
{
	char path[SEARCH_PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	if (length <= 0)
		return NULL;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash || strlen(slash + 1) >= sizeof(source->program_buffer))
		return NULL;
	strcpy(source->program_buffer, slash + 1);
	return source->program_buffer;
}

void ktr_source_init(struct ktr_source *source)
{
	const char *name = program_invocation_short_name;

	memset(source, 0, sizeof(*source));
	source->system_dir = KTR_SYSCONFDIR "/ktr";
	if (getauxval(AT_SECURE)) {
		source->program = search_executable(source);
		return;
	}
	source->program = name && *name == '-' ? name + 1 : name; /* login shells: "-bash" */
	source->home = getenv("HOME");
	source->config_home = getenv("XDG_CONFIG_HOME");
	source->conf = getenv("KTR_CONF");
	source->environment = search_getenv;
}

static int search_is_absolute(const char *path)
{
	return path && *path == '/';
}

static int search_program_is_good(const char *program)
{
	return program && *program && strcmp(program, ".") != 0 && strcmp(program, "..") != 0 &&
	       !strchr(program, '/');
}

/* Is entry 0 to 3 of the search of any use here? */
static int search_applies(const struct ktr_source *source, unsigned entry)
{
	if ((entry & 1) && !search_program_is_good(source->program))
		return 0;
	if (entry < 2)
		return source->system_dir != NULL;
	return search_is_absolute(source->config_home) || search_is_absolute(source->home);
}

/* Writes the path of entry 0 to 3; 0 or -ENAMETOOLONG. */
static int search_build(const struct ktr_source *source, unsigned entry, char *path, size_t size)
{
	const char *directory, *below = "";
	int n;

	if (entry < 2) {
		directory = source->system_dir;
	} else if (search_is_absolute(source->config_home)) {
		directory = source->config_home;
		below = "/ktr";
	} else {
		directory = source->home;
		below = "/.config/ktr";
	}
	if (entry & 1)
		n = snprintf(path, size, "%s%s/loader.conf.d/%s.conf", directory, below,
			     source->program);
	else
		n = snprintf(path, size, "%s%s/loader.conf", directory, below);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* The path of the idx-th file that applies; 0, -ENODATA after the last, -ENAMETOOLONG. */
static int search_name(const struct ktr_source *source, unsigned idx, char *path, size_t size)
{
	if (source->conf) {
		if (idx || !*source->conf)
			return -ENODATA;
		return (size_t)snprintf(path, size, "%s", source->conf) >= size ? -ENAMETOOLONG : 0;
	}
	for (unsigned entry = 0; entry < 4; entry++)
		if (search_applies(source, entry) && !idx--)
			return search_build(source, entry, path, size);
	return -ENODATA;
}

int ktr_source_path(const struct ktr_source *source, unsigned idx, char *path, size_t size)
{
	int rc = search_name(source, idx, path, size), fd;
	struct stat st;

	if (rc)
		return rc;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	rc = fstat(fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 1;
	close(fd);
	return rc;
}

/* What the loader's callbacks work on. */
struct search_run {
	struct ktr_loader loader;
	struct ktr_conf *conf;
	struct ktr_load *load;
};

static void search_report(struct ktr_loader *loader, const struct ktr_error *err)
{
	struct search_run *run = loader->context;

	if (run->load->report)
		run->load->report(run->load->context, err);
}

/* Does any knob share the name's first component? Then the name is ours to judge. */
static int search_is_ours(const struct ktr_conf *conf, const char *name)
{
	size_t length = strcspn(name, ".") + 1;

	for (const struct ktr_knobs *t = conf->tables; t; t = t->next)
		for (unsigned i = 0; i < t->n_rows; i++)
			if (strncmp(t->rows[i].name, name, length) == 0)
				return 1;
	return 0;
}

/* A name that is not in the tree: an error, or somebody's who comes later. */
static int search_unknown(struct search_run *run, const char *name, struct ktr_error *unknown,
			  struct ktr_error *err)
{
	struct ktr_error aside;
	char nearest[KTR_KNOB_NAME_BYTES];

	if (run->load->only)
		return 1;
	ktr_error_clear(&aside);
	if (search_is_ours(run->conf, name) ||
	    ktr__conf_nearest(run->conf, name, nearest, sizeof(nearest))) {
		if (err)
			*err = *unknown;
		return -unknown->code;
	}
	ktr_error_at(&aside, run->loader.file, run->loader.line, 0, EAGAIN,
		     "unknown knob \"%s\", put aside until the program registers it", name);
	search_report(&run->loader, &aside);
	return 1;
}

static int search_set(struct ktr_loader *loader, const char *name, const char *value,
		      struct ktr_error *err)
{
	struct search_run *run = loader->context;
	struct ktr_error unknown;
	struct ktr_origin origin;
	struct ktr_knob_at at;

	ktr_error_clear(&unknown);
	if (ktr_conf_find(run->conf, name, &at, &unknown))
		return search_unknown(run, name, &unknown, err);
	if (run->load->only && run->load->only != at.table)
		return 1;
	ktr_origin_set(&origin, KTR_ORIGIN_FILE, loader->file, loader->line);
	return ktr_knob_write(&at, value, &origin, err);
}

static int search_expand(struct ktr_loader *loader, const char *name, char *buffer, size_t size,
			 struct ktr_error *err)
{
	struct search_run *run = loader->context;

	return ktr_conf_get(run->conf, name, buffer, size, err);
}

static void search_begin(struct search_run *run, struct ktr_conf *conf, struct ktr_load *load)
{
	memset(run, 0, sizeof(*run));
	run->conf = conf;
	run->load = load;
	run->loader.set = search_set;
	run->loader.expand = search_expand;
	run->loader.report = search_report;
	run->loader.context = run;
}

static void search_end(struct search_run *run)
{
	run->load->n_kept += run->loader.n_kept;
	run->load->n_aside += run->loader.n_aside;
	run->load->n_refused += run->loader.n_refused;
}

int ktr_conf_load_file(struct ktr_conf *conf, struct ktr_load *load, const char *path,
		       struct ktr_error *err)
{
	struct search_run run;
	int rc;

	search_begin(&run, conf, load);
	rc = ktr__loader_read(&run.loader, path, 0, err);
	load->n_files++;
	search_end(&run);
	return rc;
}

static int search_files(struct search_run *run, struct ktr_error *err)
{
	const struct ktr_source *source = run->load->source;
	struct ktr_error bad;
	char path[SEARCH_PATH_BYTES];
	int rc, first = 0;

	if (source->conf && *source->conf) {
		run->load->n_files++;
		return ktr__loader_read(&run->loader, source->conf, 0, err);
	}
	for (unsigned idx = 0; (rc = search_name(source, idx, path, sizeof(path))) != -ENODATA;
	     idx++) {
		ktr_error_clear(&bad);
		if (rc) {
			ktr_error_at(&bad, path, 0, 0, -rc, "the path is too long");
			ktr__loader_fail(&run->loader, &bad, err);
		} else {
			rc = ktr__loader_read(&run->loader, path,
					      KTR__LOADER_OPTIONAL | KTR__LOADER_GUARDED, err);
			run->load->n_files += rc <= 0;
		}
		if (rc < 0 && !first)
			first = rc;
	}
	return first;
}

/* One environment variable and the knob it stands for. */
static int search_variable(struct search_run *run, const struct ktr_knob *row, const char *value,
			   struct ktr_error *err)
{
	struct ktr_error bad;
	struct ktr_origin origin;
	struct ktr_knob_at at;
	char file[64];
	int rc;

	ktr_error_clear(&bad);
	rc = ktr_conf_find(run->conf, row->name, &at, &bad);
	if (!rc) {
		ktr_origin_set(&origin, KTR_ORIGIN_ENVIRONMENT, row->environment, 0);
		rc = ktr_knob_write(&at, value, &origin, &bad);
	}
	run->loader.n_kept += rc == 0;
	run->loader.n_aside += rc > 0;
	if (rc >= 0)
		return 0;
	run->loader.n_refused++;
	snprintf(file, sizeof(file), "environment %s", row->environment);
	ktr_error_place(&bad, file, 0, 0);
	return ktr__loader_fail(&run->loader, &bad, err);
}

static int search_variables(struct search_run *run, struct ktr_error *err)
{
	const struct ktr_load *load = run->load;
	const char *value;
	int rc, first = 0;

	for (struct ktr_knobs *t = run->conf->tables; t; t = t->next) {
		for (unsigned i = 0; i < t->n_rows; i++) {
			const struct ktr_knob *row = &t->rows[i];

			if (!row->environment || row->instances || (load->only && load->only != t))
				continue;
			value = load->source->environment(row->environment);
			if (!value || !*value)
				continue;
			rc = search_variable(run, row, value, err);
			if (rc && !first)
				first = rc;
		}
	}
	return first;
}

int ktr_conf_load(struct ktr_conf *conf, struct ktr_load *load, struct ktr_error *err)
{
	struct search_run run;
	int first, rc = 0;

	search_begin(&run, conf, load);
	first = search_files(&run, err);
	if (load->source->environment)
		rc = search_variables(&run, err);
	search_end(&run);
	return first ? first : rc;
}
