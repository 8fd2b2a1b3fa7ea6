/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and structs as JSON; ktr-types(1) has the members. */
#ifndef TOOLS_TYPES_JSON_H
#define TOOLS_TYPES_JSON_H

#include "ktr/provider/types/types.h"

#include <jansson.h>

/* Objects, owned; NULL without memory. Bytes that are not UTF-8 become U+FFFD. */
json_t *types_json_head(const struct ktr__types *types, const char *program);
json_t *types_json_function(const struct ktr__types *types, const struct ktr__types_function *function);
json_t *types_json_struct(const struct ktr__types *types, const struct ktr__types_type *type);

#endif
