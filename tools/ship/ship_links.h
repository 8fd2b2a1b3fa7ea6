/* SPDX-License-Identifier: BSD-2-Clause */
/* Directories of links to others' files; depth: so many levels of them are gone into. */
#ifndef SHIP_LINKS_H
#define SHIP_LINKS_H

#include <dirent.h>
#include <stdint.h>

/* Owned by the caller, for closedir(3), or NULL. */
DIR *ship_links_open(int at, const char *path);

/* The next entry but . and .., valid until the next call; NULL: there is none. */
const struct dirent *ship_links_read(DIR *dir);

/* Removes what is in a directory. */
void ship_links_empty(int at, const char *path, unsigned depth);

/* Links all files to where they are not yet. 0 or -errno; what is not there any more is left out. */
int ship_links_make(int from, const char *path, int to, unsigned depth);

/* [bytes] of files that have no other name. */
uint64_t ship_links_weigh(int at, const char *path, unsigned depth);

#endif
