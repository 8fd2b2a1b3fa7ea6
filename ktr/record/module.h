/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects mapped into the process, with their build-ids. */
#ifndef KTR_MODULE_H
#define KTR_MODULE_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__object {
	uint64_t base;
	uint64_t end;
	bool executable; /* the program itself, not a shared object */
	bool has_build_id; /* else build_id is the file's identity */
	uint8_t build_id_bytes;
	uint8_t build_id[KTR_BUILD_ID_MAX];
	char path[512];
};

/* The executable or shared object that an address belongs to. False: none. */
bool ktr__object_find(const void *address, struct ktr__object *object);

/* Calls back for every object mapped now. */
void ktr__object_walk(void (*found)(void *context, const struct ktr__object *object), void *context);

#endif
