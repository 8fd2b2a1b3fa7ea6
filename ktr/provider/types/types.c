/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of types: checked when they are loaded, asked afterwards. */
#include "ktr/provider/types/types.h"

#include "conf/kit/crc.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct ktr__types_head) == 72, "on disk");
_Static_assert(sizeof(struct ktr__types_function) == 56, "on disk");
_Static_assert(sizeof(struct ktr__types_type) == 56, "on disk");
_Static_assert(sizeof(struct ktr__types_member) == 24, "on disk");

/* ---- checks ---- */

static int types_range(uint32_t first, uint32_t n, uint32_t total)
{
	return first <= total && n <= total - first;
}

static int types_good_functions(const struct ktr__types *t)
{
	const struct ktr__types_head *head = t->head;

	for (uint32_t i = 0; i < head->n_functions; i++) {
		const struct ktr__types_function *f = &t->function[i];

		if (f->name >= head->n_strings || f->linkage >= head->n_strings || f->symbol >= head->n_strings ||
		    f->file >= head->n_strings || f->result >= head->n_types ||
		    !types_range(f->first, f->n_args, head->n_members) || (i && f->address < f[-1].address))
			return 0;
	}
	return 1;
}

static int types_good_types(const struct ktr__types *t)
{
	const struct ktr__types_head *head = t->head;

	for (uint32_t i = 0; i < head->n_types; i++) {
		const struct ktr__types_type *type = &t->type[i];

		if (type->kind > KTR__TYPES_ENUM || type->name >= head->n_strings ||
		    type->target >= head->n_types ||
		    type->other >= head->n_types || !types_range(type->first, type->n_members, head->n_members))
			return 0;
	}
	for (uint32_t i = 0; i < head->n_members; i++)
		if (t->member[i].name >= head->n_strings || t->member[i].type >= head->n_types)
			return 0;
	return head->n_types > 0 && t->type[0].kind == KTR__TYPES_VOID;
}

/* Lays the arrays over the bytes. 0 when they do not fill them exactly. */
static int types_lay(struct ktr__types *t)
{
	const struct ktr__types_head *head = t->bytes;
	uint64_t n = sizeof(*head);

	if (t->n_bytes < sizeof(*head) || memcmp(head->magic, KTR__TYPES_MAGIC, sizeof(head->magic)) != 0 ||
	    head->version != KTR__TYPES_VERSION || head->n_id > KTR__TYPES_ID_MAX)
		return 0;
	t->head = head;
	t->function = (const void *)((const char *)t->bytes + n);
	n += (uint64_t)head->n_functions * sizeof(*t->function);
	t->type = (const void *)((const char *)t->bytes + n);
	n += (uint64_t)head->n_types * sizeof(*t->type);
	t->member = (const void *)((const char *)t->bytes + n);
	n += (uint64_t)head->n_members * sizeof(*t->member);
	t->strings = (const char *)t->bytes + n;
	n += head->n_strings;
	return n == t->n_bytes && head->n_strings > 0 && t->strings[0] == '\0' &&
	       t->strings[head->n_strings - 1] == '\0';
}

static int types_sum(const struct ktr__types *t)
{
	struct ktr__types_head head = *t->head;
	uint32_t crc;

	head.crc = 0;
	crc = ktr__crc(KTR__CRC32C, 0, &head, sizeof(head));
	crc = ktr__crc(KTR__CRC32C, crc, (const char *)t->bytes + sizeof(head), t->n_bytes - sizeof(head));
	return crc == t->head->crc;
}

int ktr__types_load(void *bytes, size_t n_bytes, struct ktr__types **out)
{
	struct ktr__types *t = calloc(1, sizeof(*t));

	*out = NULL;
	if (!t) {
		free(bytes);
		return -ENOMEM;
	}
	t->bytes = bytes;
	t->n_bytes = n_bytes;
	if (!types_lay(t) || !types_sum(t) || !types_good_functions(t) || !types_good_types(t)) {
		ktr__types_free(t);
		return -EINVAL;
	}
	*out = t;
	return 0;
}

void ktr__types_free(struct ktr__types *types)
{
	if (!types)
		return;
	free(types->bytes);
	free(types);
}

/* ---- questions ---- */

const struct ktr__types_type *ktr__types_bare(const struct ktr__types *types, uint32_t type)
{
	for (unsigned i = 0; i < KTR__TYPES_DEPTH; i++) {
		const struct ktr__types_type *t = &types->type[type];

		if (t->kind >= KTR__TYPES_CONST && t->kind <= KTR__TYPES_TYPEDEF)
			type = t->target;
		else if ((t->flags & KTR__TYPES_DECLARED) && t->other)
			return &types->type[t->other];
		else
			return t;
	}
	return &types->type[0];
}

const struct ktr__types_function *ktr__types_at(const struct ktr__types *types, uint64_t address)
{
	uint32_t from = 0, to = types->head->n_functions;
	const struct ktr__types_function *best = NULL;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (types->function[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from; from--) {
		const struct ktr__types_function *f = &types->function[from - 1];

		if (best ? f->address != best->address : address - f->address >= f->size && address != f->address)
			break;
		if (!best || !(f->flags & (KTR__TYPES_UNTYPED | KTR__TYPES_ALIAS)))
			best = f;
	}
	return best;
}

const char *ktr__types_last(const char *name)
{
	const char *last = name;
	unsigned depth = 0;

	for (const char *p = name; *p; p++) {
		/* "operator<" and the like end the name. */
		if (strncmp(p, "operator", 8) == 0 && p == last)
			return last;
		depth += *p == '<' || *p == '(';
		depth -= depth && (*p == '>' || *p == ')');
		if (!depth && p[0] == ':' && p[1] == ':')
			last = p + 2;
	}
	return last;
}

int ktr__types_matches(const struct ktr__types *types, const struct ktr__types_function *function,
		       const char *pattern)
{
	const char *name = ktr__types_text(types, function->name);

	return fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, ktr__types_last(name), 0) == 0 ||
	       (function->linkage && fnmatch(pattern, ktr__types_text(types, function->linkage), 0) == 0) ||
	       (function->symbol && fnmatch(pattern, ktr__types_text(types, function->symbol), 0) == 0);
}
