/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow by doubling. The pointer goes through memcpy, because all types come here. */
#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ktr__array_more(void *array, uint32_t *n, uint32_t i, size_t size)
{
	uint64_t room = *n;
	void *old;
	char *more;

	if (i > UINT32_MAX / 4)
		return -ENOMEM;
	while (room <= i)
		room = room ? 2 * room : 64;
	memcpy(&old, array, sizeof(old));
	more = realloc(old, (size_t)room * size);
	if (more == NULL)
		return -ENOMEM;
	memset(more + *n * size, 0, (size_t)(room - *n) * size);
	memcpy(array, &more, sizeof(more));
	*n = (uint32_t)room;
	return 0;
}
