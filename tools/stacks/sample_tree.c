/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stacks/sample_tree.h"

#include "conf/kit/array.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE_BUCKETS 4096

/* ---- by address ---- */

static uint32_t tree_node(struct sample_tree *tree, struct sample_node node)
{
	if (!tree->n)
		tree->n = 1;
	if (tree->n == UINT32_MAX || ktr__array_grow(&tree->node, &tree->room, tree->n, sizeof(node)))
		return 0;
	tree->node[tree->n] = node;
	return tree->n++;
}

uint32_t sample_tree_root(struct sample_tree *tree)
{
	return tree_node(tree, (struct sample_node){ .pc = 0 });
}

static uint32_t tree_child(struct sample_tree *tree, uint32_t parent, const struct ktr__live_frame *frame)
{
	uint32_t is_return = frame->is_return != 0, at = tree->node[parent].child;

	while (at && (tree->node[at].pc != frame->pc || tree->node[at].is_return != is_return))
		at = tree->node[at].next;
	if (at)
		return at;
	at = tree_node(tree, (struct sample_node){ .pc = frame->pc, .is_return = is_return, .parent = parent,
						   .next = tree->node[parent].child });
	if (at)
		tree->node[parent].child = at;
	return at;
}

uint32_t sample_tree_add(struct sample_tree *tree, uint32_t root, const struct ktr__live_frame *frame, unsigned n)
{
	uint32_t at = root;

	while (at && n)
		at = tree_child(tree, at, &frame[--n]);
	if (at)
		tree->node[at].self++;
	return at;
}

void sample_tree_free(struct sample_tree *tree)
{
	free(tree->node);
}

/* ---- names ---- */

struct sample_address {
	uint64_t pc;
	uint32_t is_return;
	int line;
	const char *file; /* borrowed */
	struct sample_function *function;
	struct sample_address *next;
};

struct sample_names {
	struct ktr__live *live; /* borrowed */
	struct sample_function *function; /* owned, all of them */
	struct sample_address *bucket[SAMPLE_BUCKETS]; /* owned */
};

struct sample_names *sample_names_new(struct ktr__live *live)
{
	struct sample_names *names = calloc(1, sizeof(*names));

	if (names)
		names->live = live;
	return names;
}

void sample_names_free(struct sample_names *names)
{
	if (!names)
		return;
	for (unsigned i = 0; i < SAMPLE_BUCKETS; i++)
		while (names->bucket[i]) {
			struct sample_address *address = names->bucket[i];

			names->bucket[i] = address->next;
			free(address);
		}
	while (names->function) {
		struct sample_function *function = names->function;

		names->function = function->next;
		free(function->symbol);
		free(function->object);
		free(function);
	}
	free(names);
}

struct sample_function *sample_names_functions(const struct sample_names *names)
{
	return names->function;
}

static int names_same(const struct sample_function *function, const struct ktr__live_name *name, uint64_t base)
{
	return function->base == base && strcmp(function->symbol, name->symbol) == 0 &&
	       !function->object == !name->object && (!name->object || strcmp(function->object, name->object) == 0);
}

/* Where nothing is known each address is a function of its own. */
static struct sample_function *names_function(struct sample_names *names, const struct ktr__live_name *name,
					      uint64_t pc)
{
	uint64_t base = name->symbol[0] ? pc - name->offset : name->object ? pc - name->object_offset : pc;
	struct sample_function *function = names->function;

	while (function && !names_same(function, name, base))
		function = function->next;
	/* Without a symbol an object is no function: each address is one. */
	if (function && name->symbol[0])
		return function;
	function = calloc(1, sizeof(*function));
	if (!function)
		return NULL;
	function->base = base;
	function->symbol = strdup(name->symbol);
	function->object = name->object ? strdup(name->object) : NULL;
	if (!function->symbol || (name->object && !function->object)) {
		free(function->symbol);
		free(function->object);
		free(function);
		return NULL;
	}
	function->next = names->function;
	return names->function = function;
}

static struct sample_address *names_address(struct sample_names *names, const struct sample_node *node)
{
	struct sample_address **bucket = &names->bucket[(node->pc ^ node->pc >> 12) % SAMPLE_BUCKETS];
	struct sample_address *address = *bucket;
	static struct ktr__live_name name;

	while (address && (address->pc != node->pc || address->is_return != node->is_return))
		address = address->next;
	if (address)
		return address;
	address = calloc(1, sizeof(*address));
	if (!address)
		return NULL;
	ktr__live_name(names->live, node->pc, (int)node->is_return, &name);
	*address = (struct sample_address){ .pc = node->pc, .is_return = node->is_return, .line = name.line,
					    .file = name.file, .function = names_function(names, &name, node->pc) };
	if (!address->function) {
		free(address);
		return NULL;
	}
	address->next = *bucket;
	return *bucket = address;
}

/* ---- by function ---- */

static void call_place(struct sample_call *call, uint64_t pc)
{
	for (unsigned i = 0; i < call->n_places && i < SAMPLE_PLACES; i++)
		if (call->place[i] == pc)
			return;
	if (call->n_places < SAMPLE_PLACES)
		call->place[call->n_places] = pc;
	if (call->n_places <= SAMPLE_PLACES)
		call->n_places++;
}

static struct sample_call *call_child(struct sample_call *parent, const struct sample_address *address)
{
	struct sample_call *call = parent->child;

	while (call && call->function != address->function)
		call = call->next;
	if (!call) {
		call = calloc(1, sizeof(*call));
		if (!call)
			return NULL;
		*call = (struct sample_call){ .function = address->function, .next = parent->child,
					      .file = address->file, .line = address->line };
		parent->child = call;
		address->function->places++;
	}
	call_place(call, address->pc);
	return call;
}

static int call_heavier(const struct sample_call *a, const struct sample_call *b)
{
	if (a->total != b->total)
		return a->total > b->total;
	return a->place[0] < b->place[0];
}

/* Into a list that is in order. */
static struct sample_call *call_insert(struct sample_call *list, struct sample_call *call)
{
	struct sample_call **at = &list;

	while (*at && call_heavier(*at, call))
		at = &(*at)->next;
	call->next = *at;
	*at = call;
	return list;
}

static void call_sum(struct sample_call *call)
{
	struct sample_call *list = NULL, *next;

	call->total = call->self;
	for (struct sample_call *child = call->child; child; child = next) {
		next = child->next;
		call_sum(child);
		call->total += child->total;
		list = call_insert(list, child);
	}
	call->child = list;
}

/* Depth is that of a stack, KTR__LIVE_FRAMES at most. 0 or -1. */
static int call_merge(struct sample_names *names, const struct sample_tree *tree, uint32_t from,
		      struct sample_call *to)
{
	for (uint32_t at = tree->node[from].child; at; at = tree->node[at].next) {
		const struct sample_node *node = &tree->node[at];
		struct sample_address *address = names_address(names, node);
		struct sample_call *call = address ? call_child(to, address) : NULL;

		if (!call)
			return -1;
		call->self += node->self;
		address->function->self += node->self;
		if (call_merge(names, tree, at, call))
			return -1;
	}
	return 0;
}

struct sample_call *sample_calls(struct sample_names *names, const struct sample_tree *tree, uint32_t root)
{
	struct sample_call *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->self = tree->node[root].self;
	if (call_merge(names, tree, root, all)) {
		sample_calls_free(all);
		return NULL;
	}
	call_sum(all);
	return all;
}

void sample_calls_free(struct sample_call *call)
{
	while (call) {
		struct sample_call *next = call->next;

		sample_calls_free(call->child);
		free(call);
		call = next;
	}
}
