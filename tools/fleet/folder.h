/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces in a folder, and what a trace is known by in a fleet. */
#ifndef FLEET_FOLDER_H
#define FLEET_FOLDER_H

#include <ktr/reader.h>

#include <stddef.h>

#define FOLDER_BUILD_BYTES 17
#define FOLDER_UUID_BYTES  64

/* Is there a trace's description, or may there be one where we may not look? */
int folder_is_trace(const char *path);

/* The session that a trace is of, from the first line of its description. 0 or -1. */
int folder_uuid(const char *path, char uuid[FOLDER_UUID_BYTES]);

/* NAME.12 is a part of NAME, where that is there and of the same session. */
int folder_is_part(const char *path);

/*
 * Calls each(context, path, host) for the traces in a folder, in the order of their names, those of one name in the
 * order of their numbers; parts of another trace are none. host: NULL. With hosts, of folders in it
 * the traces, too, which are of the host that their folder is called by. How many there were, or -errno.
 */
int folder_traces(const char *folder, int hosts, void (*each)(void *context, const char *path, const char *host),
		  void *context);

/*
 * The build of a trace: the beginning of the id of the first module that has one, the program's own where its sites
 * are in it. "": none has.
 */
void folder_build(const struct ktr_reader *reader, char text[FOLDER_BUILD_BYTES]);

#endif
