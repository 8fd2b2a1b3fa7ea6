/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/profil/create.h"

#include <ktr/profil.h>

#include <stdlib.h>

struct create_begin {
	void *(*start)(void *);
	thrd_start_t thrd;
	void *argument;
};

static struct create_begin create_take(void *context)
{
	struct create_begin begin = *(struct create_begin *)context;

	free(context);
	ktr_profil_thread();
	return begin;
}

static void *create_begin_pthread(void *context)
{
	struct create_begin begin = create_take(context);

	return begin.start(begin.argument);
}

static int create_begin_thrd(void *context)
{
	struct create_begin begin = create_take(context);

	return begin.thrd(begin.argument);
}

int ktr__create_pthread_by(ktr__create_pthread *real, pthread_t *thread, const pthread_attr_t *attr,
			   void *(*start)(void *), void *argument)
{
	struct create_begin *begin = malloc(sizeof(*begin));
	int code;

	if (!begin)
		return real(thread, attr, start, argument);
	*begin = (struct create_begin){ start, NULL, argument };
	code = real(thread, attr, create_begin_pthread, begin);
	if (code)
		free(begin);
	return code;
}

int ktr__create_thrd_by(ktr__create_thrd *real, thrd_t *thread, thrd_start_t start, void *argument)
{
	struct create_begin *begin = malloc(sizeof(*begin));
	int code;

	if (!begin)
		return real(thread, start, argument);
	*begin = (struct create_begin){ NULL, start, argument };
	code = real(thread, create_begin_thrd, begin);
	if (code != thrd_success)
		free(begin);
	return code;
}
