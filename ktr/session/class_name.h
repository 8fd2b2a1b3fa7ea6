/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the classes that every session has. */
#ifndef KTR_CLASS_NAME_H
#define KTR_CLASS_NAME_H

#include <ktr/class.h>

/* Writes the name of a bit below KTR_CLASS_APP_FIRST as masks are printed, in lower case: "net". */
void ktr__class_name(unsigned bit, char name[KTR_CLASS_NAME_MAX]);

#endif
