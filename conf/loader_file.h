/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of settings; ktr_loader_file() is public. */
#ifndef CONF_LOADER_FILE_H
#define CONF_LOADER_FILE_H

#include <ktr/conf.h>
#include <ktr/error.h>

#define KTR__LOADER_OPTIONAL 1u /* a file that is not there is no error: returns 1 */
#define KTR__LOADER_GUARDED  2u /* a file that everybody may write to is refused */

/*
 * ktr_loader_file() with the flags above. Returns 0, 1 (see above), or -errno with err filled, which may be
 * NULL.
 */
int ktr__loader_read(struct ktr_loader *loader, const char *path, unsigned flags,
		     struct ktr_error *err);

#endif
