/* SPDX-License-Identifier: BSD-2-Clause */
/* What the search for settings needs of the loader and the tree beyond their public calls. */
#ifndef CONF_LOADER_H
#define CONF_LOADER_H

#include <stddef.h>
#include <ktr/conf.h>

#define KTR__LOADER_OPTIONAL 1u /* a file that is not there is no error: returns 1 */
#define KTR__LOADER_GUARDED  2u /* a file that everybody may write to is refused */

/*
 * Takes the whole lines out of a text, and what is behind the last newline too when at_end.
 * Returns how many bytes were used, or SIZE_MAX when nothing further is to be read; first keeps
 * the -errno of the first line that was refused.
 */
size_t ktr__loader_lines(struct ktr_loader *loader, const char *text, size_t length, int at_end,
			 int *first, struct ktr_error *err);

/* ktr_loader_file() with the flags above. */
int ktr__loader_read(struct ktr_loader *loader, const char *path, unsigned flags,
		     struct ktr_error *err);

/* Records an error about the whole file: reports it and keeps it in err if it is the first. */
int ktr__loader_fail(struct ktr_loader *loader, struct ktr_error *failed, struct ktr_error *err);

/* Copies the knob's name nearest to one that is not there; 1 when there is one, else 0. */
int ktr__conf_nearest(const struct ktr_conf *conf, const char *name, char *nearest, size_t size);

#endif
