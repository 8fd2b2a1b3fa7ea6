/* SPDX-License-Identifier: BSD-2-Clause */
/* FreeBSD's classes by name, from the list that defines them. */
#include "ktr/session/class_name.h"

static const char class_names[KTR_CLASS_APP_FIRST][8] = {
#define CLASS_NAME(name, bit, help) [bit] = #name,
	KTR_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
};

void ktr__class_name(unsigned bit, char name[KTR_CLASS_NAME_MAX])
{
	unsigned i;

	for (i = 0; class_names[bit][i]; i++)
		name[i] = (char)(class_names[bit][i] | 0x20); /* digits keep their bit */
	name[i] = '\0';
}
