/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of a tree of frames, in the form that its name says. */
#ifndef VISUALIZE_FLAME_FILE_H
#define VISUALIZE_FLAME_FILE_H

#include "visualize/flame/flame_view.h"

#include <ktr/error.h>

enum ktr__flame_format {
	KTR__FLAME_TEXT, /* none of these */
	KTR__FLAME_SVG,
	KTR__FLAME_PAGE,
	KTR__FLAME_FOLDED
};

/* By the end of the path: .svg, .html, .folded. */
enum ktr__flame_format ktr__flame_format(const char *path);

/* Not KTR__FLAME_TEXT. 0 or -errno with err filled. */
int ktr__flame_file(const struct ktr__flame_view *view, enum ktr__flame_format format, const char *path,
		    struct ktr_error *err);

#endif
