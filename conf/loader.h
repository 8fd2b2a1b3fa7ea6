/* SPDX-License-Identifier: BSD-2-Clause */
/* What readers of settings need of the loader beyond its public calls. */
#ifndef CONF_LOADER_H
#define CONF_LOADER_H

#include <ktr/conf.h>
#include <ktr/error.h>

#include <stddef.h>

/*
 * Takes the whole lines out of a text, and what follows the last newline too when at_end. Returns how many
 * bytes were used, or SIZE_MAX when nothing further is to be read; *first keeps the -errno of the first line
 * that was refused. err, which may be NULL, gets that line's error.
 */
size_t ktr__loader_lines(struct ktr_loader *loader, const char *text, size_t length, int at_end,
			 int *first, struct ktr_error *err);

/*
 * Records an error about the whole file: reports it and keeps it in err, which may be NULL, if it is the first.
 * Returns its -errno.
 */
int ktr__loader_fail(struct ktr_loader *loader, struct ktr_error *failed, struct ktr_error *err);

#endif
