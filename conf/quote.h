/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings in quotes; what parsers and printers return is said in value.h. */
#ifndef CONF_QUOTE_H
#define CONF_QUOTE_H

#include <ktr/error.h>

#include <stddef.h>

/* Writes at most size bytes, NUL included; on failure buffer holds no complete string. */
int ktr__parse_string(const char *text, char *buffer, size_t size, struct ktr_error *err);
int ktr__print_string(const char *string, char *buffer, size_t size);

#endif
