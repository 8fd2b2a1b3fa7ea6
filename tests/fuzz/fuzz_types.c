/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a program with debugging information, or, where they begin as one does, as an image of the cache,
 * whose checksum is made right. What is read is printed whole.
 */
#include "analyze/types/dwarf_read.h"
#include "ktr/provider/types/places.h"
#include "ktr/provider/types/type_text.h"
#include "writer/format/crc32c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_function(FILE *to, const struct ktr__types *types, const struct ktr__types_function *f)
{
	struct ktr__types_place result, *arg = calloc(f->n_args + (size_t)1, sizeof(*arg));
	char text[KTR__PLACE_TEXT];

	if (!arg)
		return;
	ktr__type_prototype(to, types, f);
	ktr__places(types, f, &result, arg);
	for (uint32_t i = 0; i < f->n_args; i++)
		fputs(ktr__place_text(&arg[i], text), to);
	fputs(ktr__place_text(&result, text), to);
	free(arg);
}

static void fuzz_image(void *bytes, size_t size)
{
	struct ktr__types *types;
	char *text = NULL;
	size_t n;
	FILE *to;

	if (ktr__types_load(bytes, size, &types))
		return;
	to = open_memstream(&text, &n);
	for (uint32_t i = 0; to && i < types->head->n_functions; i++)
		fuzz_function(to, types, &types->function[i]);
	for (uint32_t i = 0; to && i < types->head->n_types; i++) {
		ktr__type_declare(to, types, i, "x", i % 4);
		ktr__type_resolved(to, types, i, i % 4);
		fputs(ktr__type_encoding(types, i), to);
	}
	ktr__types_at(types, types->head->n_functions ? types->function[0].address : 0);
	if (to)
		fclose(to);
	free(text);
	ktr__types_free(types);
}

static void fuzz_cached(const uint8_t *data, size_t size)
{
	struct ktr__types_head head;
	char *bytes = malloc(size);

	if (!bytes)
		return;
	memcpy(bytes, data, size);
	memcpy(&head, data, sizeof(head));
	head.crc = 0;
	memcpy(bytes, &head, sizeof(head));
	head.crc = ktr__crc32c(0, bytes, size);
	memcpy(bytes, &head, sizeof(head));
	fuzz_image(bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[32];
	void *bytes;
	size_t n;

	if (size >= sizeof(struct ktr__types_head) && memcmp(data, KTR__TYPES_MAGIC, 8) == 0) {
		fuzz_cached(data, size);
		return 0;
	}
	if (fd < 0)
		fd = memfd_create("fuzz_types", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ktr__dwarf_read(path, &bytes, &n, NULL) == 0)
		fuzz_image(bytes, n);
	return 0;
}
