/* SPDX-License-Identifier: BSD-2-Clause */
/* See drop.h. */
#include "ktr/session/drop.h"

const char *ktr__drop_name(unsigned why)
{
	static const char *const names[KTR_DROPS] = {
#define DROP_NAME(name, field, text) #field,
		KTR_DROP_LIST(DROP_NAME)
#undef DROP_NAME
	};

	return names[why];
}

const char *ktr__drop_text(unsigned why)
{
	static const char *const texts[KTR_DROPS] = {
#define DROP_TEXT(name, field, text) text,
		KTR_DROP_LIST(DROP_TEXT)
#undef DROP_TEXT
	};

	return texts[why];
}

void ktr__dropped(const struct ktr_control *control, uint64_t n_events[KTR_DROPS])
{
#define DROP_COUNT(name, field, text) n_events[KTR_DROP_##name] = control->drop_##field;
	KTR_DROP_LIST(DROP_COUNT)
#undef DROP_COUNT
}

uint64_t ktr__dropped_sum(const uint64_t n_events[KTR_DROPS])
{
	uint64_t sum = 0;

	for (unsigned why = 0; why < KTR_DROPS; why++)
		sum += n_events[why];
	return sum;
}
