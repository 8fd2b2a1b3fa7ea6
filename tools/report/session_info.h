/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session file tells about itself at a glance, for listings and last lines. */
#ifndef TOOLS_SESSION_INFO_H
#define TOOLS_SESSION_INFO_H

#include "ktr/session/session_map.h"

#define SESSION_PIDS_MAX 16 /* shown; n_pids counts them all */

struct session_process {
	uint32_t pid;  /* as we see it; 0: it is of another pid namespace, and cannot be known */
	uint32_t its;  /* in its own pid namespace */
	char name[32]; /* of the process */
};

struct session_info {
	char name[KTR_SESSION_NAME_MAX];
	int alive;
	int frozen;
	struct session_process process[SESSION_PIDS_MAX]; /* running ones; of a dead session all there were */
	unsigned n_pids;
	char cmdline[256];  /* of the first process shown */
	char mask[512];	    /* by name, as debug.ktr.mask prints it */
	uint64_t events;    /* recorded since it began */
	uint64_t lost;	    /* could not be recorded */
	uint64_t bytes;	    /* on disk, that is in memory for a session in /dev/shm */
	uint64_t age_s;	    /* since its first process attached */
};

/* Fills *info. 0, or -errno when the file cannot be read; text in it is fit for terminals. */
int session_info(const struct ktr__session_map *map, struct session_info *info);

/*
 * Class names of a session: FreeBSD's, "all", then the application's. For ktr__print_mask(); context is
 * a struct ktr__session_map.
 */
int session_class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value);

/* [ns] CLOCK_MONOTONIC. */
uint64_t session_now_ns(void);

/* Makes bytes of a session's texts that are not printable '?'. */
void session_disarm(char *text);

/* Events recorded in all rings of a session, and in *lost what could not be. 0 or -errno. */
int session_counts(const struct ktr__session_map *map, uint64_t *events, uint64_t *lost);

#endif
