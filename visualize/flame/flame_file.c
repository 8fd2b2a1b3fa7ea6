/* SPDX-License-Identifier: BSD-2-Clause */
#include "visualize/flame/flame_file.h"

#include "analyze/print/newfile.h"
#include "visualize/flame/flame_page.h"
#include "visualize/flame/flame_svg.h"

#include <string.h>

enum ktr__flame_format ktr__flame_format(const char *path)
{
	static const char *const ends[] = { [KTR__FLAME_SVG] = ".svg",
					    [KTR__FLAME_PAGE] = ".html",
					    [KTR__FLAME_FOLDED] = ".folded" };
	const char *dot = strrchr(path, '.');

	for (enum ktr__flame_format i = KTR__FLAME_SVG; dot != NULL && i <= KTR__FLAME_FOLDED; i++)
		if (strcmp(dot, ends[i]) == 0)
			return i;
	return KTR__FLAME_TEXT;
}

int ktr__flame_file(const struct ktr__flame_view *view, enum ktr__flame_format format, const char *path,
		    struct ktr_error *err)
{
	struct ktr__newfile file;
	int rc = ktr__newfile_begin(&file, path, err);

	if (rc != 0)
		return rc;
	rc = format == KTR__FLAME_SVG ? ktr__flame_svg(view, file.to)
	     : format == KTR__FLAME_PAGE ? ktr__flame_page(view, file.to)
					 : 0;
	if (format == KTR__FLAME_FOLDED)
		ktr__flame_print(view->flame, 0, file.to);
	if (rc != 0)
		ktr_error_at(err, path, 0, 0, -rc, "cannot be written: %s", strerror(-rc));
	return ktr__newfile_end(&file, rc, err);
}
