/* SPDX-License-Identifier: BSD-2-Clause */
#include "visualize/model/column.h"

#include <errno.h>

int ktr__column_more(struct ktr__column *column, size_t n)
{
	size_t room = column->room ? 2 * column->room : 256;
	uint8_t *bytes;

	if (column->is_fixed)
		return column->error = -ENOMEM;
	while (room - column->n < n)
		room *= 2;
	bytes = realloc(column->bytes, room);
	if (bytes == NULL)
		return column->error = -ENOMEM;
	column->bytes = bytes;
	column->room = room;
	return 0;
}
