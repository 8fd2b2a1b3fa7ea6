/* SPDX-License-Identifier: BSD-2-Clause */
/* See flame.h. */
#include "visualize/model/flame.h"

#include "conf/kit/array.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A name as it is shown: clean, and without what separates frames. */
static size_t flame_clean(char text[KTR__FLAME_NAME_BYTES], const char *bytes, size_t n)
{
	size_t length = n > 0 ? ktr__label_clean(text, KTR__FLAME_NAME_BYTES, bytes, n)
			      : ktr__label_clean(text, KTR__FLAME_NAME_BYTES, "(none)", 6);

	for (size_t i = 0; i < length; i++)
		if (text[i] == ';')
			text[i] = ':';
	return length;
}

static int flame_name(struct ktr__flame *f, const char *bytes, size_t n, uint32_t *name)
{
	char text[KTR__FLAME_NAME_BYTES];
	size_t length = flame_clean(text, bytes, n);
	uint32_t *first = ktr__keymap_at(&f->name_of, ktr__hash_bytes(0, text, length));

	if (first == NULL)
		return -ENOMEM;
	for (uint32_t at = *first; at != 0; at = f->name[at - 1].next)
		if (strcmp(f->name[at - 1].text, text) == 0) {
			*name = at - 1;
			return 0;
		}
	if (ktr__array_grow(&f->name, &f->name_room, f->n_names, sizeof(*f->name)) != 0)
		return -ENOMEM;
	f->name[f->n_names] = (struct ktr__flame_name){ strdup(text), *first };
	if (f->name[f->n_names].text == NULL)
		return -ENOMEM;
	*name = f->n_names;
	*first = ++f->n_names;
	return 0;
}

int ktr__flame_child(struct ktr__flame *f, uint32_t parent, const char *bytes, size_t n, uint32_t *node)
{
	uint32_t name, *at;

	if (flame_name(f, bytes, n, &name) != 0)
		return -ENOMEM;
	/* Of one word the hash is another one: no two keys meet. */
	at = ktr__keymap_at(&f->node_of, ktr__hash_word(0, (uint64_t)parent << 32 | name));
	if (at == NULL)
		return -ENOMEM;
	if (*at == 0 && f->n_nodes == KTR__FLAME_NODES) {
		f->n_left_out++;
		*node = parent;
		return 0;
	}
	if (*at == 0) {
		if (ktr__array_grow(&f->node, &f->node_room, f->n_nodes, sizeof(*f->node)) != 0)
			return -ENOMEM;
		f->node[f->n_nodes] = (struct ktr__flame_node){ .parent = parent, .name = name };
		*at = f->n_nodes++;
	}
	*node = *at;
	return 0;
}

int ktr__flame_init(struct ktr__flame *f)
{
	uint32_t name;

	memset(f, 0, sizeof(*f));
	if (flame_name(f, "all", 3, &name) != 0 || ktr__array_grow(&f->node, &f->node_room, 0, sizeof(*f->node)) != 0)
		return -ENOMEM;
	f->node[f->n_nodes++] = (struct ktr__flame_node){ .name = name };
	return 0;
}

void ktr__flame_free(struct ktr__flame *f)
{
	for (uint32_t i = 0; i < f->n_names; i++)
		free(f->name[i].text);
	free(f->name);
	free(f->node);
	ktr__keymap_free(&f->node_of);
	ktr__keymap_free(&f->name_of);
}

struct flame_order {
	const char *text;
	uint32_t node;
};

static int flame_compare(const void *a, const void *b)
{
	const struct flame_order *x = a, *y = b;

	return strcmp(x->text, y->text);
}

int ktr__flame_end(struct ktr__flame *f)
{
	struct flame_order *order = calloc(f->n_nodes, sizeof(*order));

	if (order == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		memcpy(f->node[i].total, f->node[i].self, sizeof(f->node[i].total));
		f->node[i].child = f->node[i].sibling = 0;
		order[i] = (struct flame_order){ ktr__flame_text(f, i), i };
	}
	for (uint32_t i = f->n_nodes; i-- > 1;)
		for (unsigned side = 0; side < 2; side++)
			f->node[f->node[i].parent].total[side] += f->node[i].total[side];
	/* Each is put before those that its parent has got already. */
	qsort(order, f->n_nodes, sizeof(*order), flame_compare);
	for (uint32_t i = f->n_nodes; i-- > 0;) {
		struct ktr__flame_node *node = &f->node[order[i].node], *parent = &f->node[node->parent];

		if (order[i].node == 0)
			continue;
		node->sibling = parent->child;
		parent->child = order[i].node;
	}
	free(order);
	return 0;
}

int ktr__flame_order(const struct ktr__flame *f, uint32_t a, uint32_t b)
{
	return strcmp(ktr__flame_text(f, a), ktr__flame_text(f, b));
}

uint64_t *ktr__flame_by_name(const struct ktr__flame *f, unsigned side)
{
	uint64_t *sum = calloc(f->n_names, sizeof(*sum));

	for (uint32_t i = 0; sum != NULL && i < f->n_nodes; i++)
		sum[f->node[i].name] += f->node[i].self[side];
	return sum;
}

static void flame_print_path(const struct ktr__flame *f, uint32_t node, FILE *to)
{
	if (f->node[node].parent != 0) {
		flame_print_path(f, f->node[node].parent, to);
		putc(';', to);
	}
	fputs(ktr__flame_text(f, node), to);
}

uint32_t ktr__flame_print(const struct ktr__flame *f, unsigned side, FILE *to)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < f->n_nodes; i++) {
		if (f->node[i].self[side] == 0)
			continue;
		flame_print_path(f, i, to);
		fprintf(to, " %" PRIu64 "\n", f->node[i].self[side]);
		n++;
	}
	return n;
}
