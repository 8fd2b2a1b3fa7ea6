/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of pictures. */
#include "tools/picture/picture.h"

#include "visualize/chart/chart.h"
#include "visualize/model/label.h"
#include "visualize/model/time_spec.h"

#include <stdio.h>
#include <string.h>

#define PICTURE_MAX 20000 /* [pixels] */

void picture_init(struct picture *picture, int argc, char **argv, unsigned min_width,
		  unsigned min_height)
{
	memset(picture, 0, sizeof(*picture));
	picture->find.command = argv[0];
	picture->width = KTR__CHART_WIDTH;
	picture->height = KTR__CHART_HEIGHT;
	picture->min_width = min_width;
	picture->min_height = min_height;
	snprintf(picture->command, sizeof(picture->command), "%s", argv[0]);
	for (int i = 1; i < argc; i++)
		ktr__label_word(picture->command, sizeof(picture->command), argv[i]);
}

int picture_size(void *at, const char *what, const char *value, char **argv)
{
	struct picture *picture = at;
	char end;

	picture->sized = 1;
	if (sscanf(value, "%5ux%5u%c", &picture->width, &picture->height, &end) == 2 &&
	    picture->width >= picture->min_width && picture->width <= PICTURE_MAX &&
	    picture->height >= picture->min_height && picture->height <= PICTURE_MAX)
		return 0;
	return usage_error(argv[0], "%s is a width and height from %ux%u to %dx%d, not \"%s\"", what,
			   picture->min_width, picture->min_height, PICTURE_MAX, PICTURE_MAX, value);
}

int picture_check(struct picture *picture, int other)
{
	struct ktr_error err = KTR_ERROR_NONE;
	const char *command = picture->find.command;

	if (picture->around != NULL && (picture->from != NULL || picture->to != NULL))
		return usage_error(command, "--around and --from or --to exclude each other");
	if (!other && ktr__gnuplot_format_of(picture->output, &picture->format, &err) != 0)
		return usage_error(command, "%s: %s", picture->output, err.text);
	return 0;
}

int picture_window(const struct picture *picture, const struct ktr_reader_info *info,
		   uint64_t *from_ns, uint64_t *to_ns)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];
	int rc = 0;

	*from_ns = *to_ns = 0;
	if (picture->around != NULL)
		rc = ktr__time_spec_around(picture->around, info, from_ns, to_ns, &err);
	if (rc == 0 && picture->from != NULL)
		rc = ktr__time_spec_parse(picture->from, info, from_ns, &err);
	if (rc == 0 && picture->to != NULL)
		rc = ktr__time_spec_parse(picture->to, info, to_ns, &err);
	if (rc != 0)
		return usage_error(picture->find.command, "%s",
				   ktr_error_print(&err, line, sizeof(line)));
	if ((picture->to != NULL || *to_ns != 0) && *from_ns >= *to_ns)
		return usage_error(picture->find.command, "the window ends before it begins");
	return 0;
}
