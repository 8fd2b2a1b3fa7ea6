/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree: tables of rows, found by name and walked in order.
 *
 * The tree is flat, a list of tables in the order of their registration; the dots in names are all
 * the structure there is. A few hundred rows are searched faster than an index over them would be
 * kept, and nothing needs memory. A row whose name holds the component "*" stands for as many
 * knobs as its instance list has names; those come from outside (another process may have written
 * them) and are made printable before anybody compares or prints them.
 *
 * Tables are appended by one compare-and-swap, so that a search under way sees the list as it was
 * or as it will be. They are taken out only when nobody else is in the tree.
 */
#include "conf/tree.h"

#include "conf/nearest.h"
#include "conf/value.h"

#include <errno.h>
#include <string.h>

static struct ktr_knobs *tree_load(struct ktr_knobs *const *link)
{
	return __atomic_load_n(link, __ATOMIC_ACQUIRE);
}

static int tree_name_byte(char c)
{
	return ktr__is_digit(c) || (ktr__lower(c) >= 'a' && ktr__lower(c) <= 'z') || c == '_' ||
	       c == '-';
}

/* Components of letters, digits, '_' and '-', or one "*", joined by single dots. */
static int tree_name_is_good(const char *name)
{
	unsigned n_stars = 0;
	size_t length;

	if (strlen(name) >= KTR_KNOB_NAME_BYTES)
		return 0;
	for (;; name += length + 1) {
		length = strcspn(name, ".");
		if (!length)
			return 0;
		if (length == 1 && *name == '*' && !n_stars++)
			length = 1;
		else
			for (size_t i = 0; i < length; i++)
				if (!tree_name_byte(name[i]))
					return 0;
		if (!name[length])
			return 1;
	}
}

/* Is there anything to read it from or to write it to? */
static int tree_row_is_backed(const struct ktr_knob *row)
{
	if (row->type == KTR_KNOB_TEXT)
		return row->get && !(row->access & (KTR_KNOB_WR | KTR_KNOB_TUN));
	if (row->variable)
		return row->type != KTR_KNOB_STRING ||
		       (row->max && row->max < KTR_KNOB_STRING_BYTES);
	return (!(row->access & KTR_KNOB_RD) || row->get) &&
	       (!(row->access & (KTR_KNOB_WR | KTR_KNOB_TUN)) || row->set);
}

static int tree_row_is_good(const struct ktr_knob *row)
{
	return row->name && tree_name_is_good(row->name) && row->type >= KTR_KNOB_BOOL &&
	       row->type <= KTR_KNOB_TEXT && (row->type != KTR_KNOB_CHOICE || row->names) &&
	       (row->type != KTR_KNOB_CPUS || row->max <= KTR_CPUS_MAX) &&
	       !strchr(row->name, '*') == !row->instances && tree_row_is_backed(row);
}

static int tree_has_name(const struct ktr_knobs *table, unsigned n_rows, const char *name)
{
	for (unsigned i = 0; i < n_rows; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return 1;
	return 0;
}

static int tree_check(const struct ktr_conf *conf, const struct ktr_knobs *table,
		      struct ktr_error *err)
{
	for (unsigned i = 0; i < table->n_rows; i++) {
		const struct ktr_knob *row = &table->rows[i];

		if (!tree_row_is_good(row))
			return ktr_error_set(err, EINVAL, "knob row %u (%s) is not well formed", i,
					     row->name ? row->name : "no name");
		if (tree_has_name(table, i, row->name))
			return ktr_error_set(err, EEXIST, "%s is in its table twice", row->name);
		for (struct ktr_knobs *t = tree_load(&conf->tables); t; t = tree_load(&t->next))
			if (tree_has_name(t, t->n_rows, row->name))
				return ktr_error_set(err, EEXIST, "%s is registered already",
						     row->name);
	}
	return 0;
}

int ktr_conf_register(struct ktr_conf *conf, struct ktr_knobs *table, struct ktr_error *err)
{
	struct ktr_knobs **link = &conf->tables, *end;
	int rc;

	for (end = tree_load(link); end; end = tree_load(&end->next))
		if (end == table)
			return ktr_error_set(err, EEXIST, "the table is in the tree already");
	rc = tree_check(conf, table, err);
	if (rc)
		return rc;
	for (;;) {
		end = NULL;
		/* Release: whoever meets the table also sees what its owner wrote into it. */
		if (__atomic_compare_exchange_n(link, &end, table, 0, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return 0;
		link = &end->next;
	}
}

int ktr_conf_unregister(struct ktr_conf *conf, struct ktr_knobs *table)
{
	for (struct ktr_knobs **link = &conf->tables; *link; link = &(*link)->next) {
		if (*link == table) {
			*link = table->next;
			table->next = NULL;
			return 0;
		}
	}
	return -ENOENT;
}

/*
 * Writes a row's name with its "*" replaced by the instance's. Returns 0; 1 when this instance
 * is not there or its name is too long; -ENOENT after the last.
 */
static int tree_fill_name(const struct ktr_knob *row, void *context, unsigned instance,
			  char name[KTR_KNOB_NAME_BYTES])
{
	const char *star = row->instances ? strchr(row->name, '*') : NULL;
	size_t head, middle;
	uint64_t value;
	int rc;

	if (!star) {
		strcpy(name, row->name);
		return instance ? -ENOENT : 0;
	}
	head = (size_t)(star - row->name);
	memcpy(name, row->name, head);
	name[head] = '\0';
	rc = row->instances(context, instance, name + head, KTR_KNOB_NAME_BYTES - head, &value);
	if (rc)
		return rc < 0 ? -ENOENT : 1;
	name[KTR_KNOB_NAME_BYTES - 1] = '\0';
	middle = strlen(name + head);
	if (!middle || head + middle + strlen(star + 1) >= KTR_KNOB_NAME_BYTES)
		return 1;
	for (char *p = name + head; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == '=' || *p == '"')
			*p = '?';
	strcpy(name + head + middle, star + 1);
	return 0;
}

static int tree_is_below(const char *prefix, const char *name)
{
	size_t length = prefix ? strlen(prefix) : 0;

	return !length ||
	       (strncmp(prefix, name, length) == 0 && (!name[length] || name[length] == '.'));
}

/* From the row and instance in *at on, these included, the first that lies below prefix. */
static int tree_seek(const char *prefix, struct ktr_knob_at *at)
{
	int rc;

	for (;;) {
		while (at->knob == at->table->rows + at->table->n_rows) {
			at->table = tree_load(&at->table->next);
			if (!at->table)
				return 0;
			at->knob = at->table->rows;
			at->instance = 0;
		}
		rc = tree_fill_name(at->knob, at->table->context, at->instance, at->name);
		if (rc == 0 && tree_is_below(prefix, at->name))
			return 1;
		if (rc < 0 || !at->knob->instances) {
			at->knob++;
			at->instance = 0;
		} else {
			at->instance++;
		}
	}
}

int ktr_conf_next(const struct ktr_conf *conf, const char *prefix, struct ktr_knob_at *at)
{
	at->origin = KTR_ORIGIN_DEFAULT;
	if (!at->table) {
		at->table = tree_load(&conf->tables);
		if (!at->table)
			return 0;
		at->knob = at->table->rows;
		at->instance = 0;
	} else if (at->knob->instances) {
		at->instance++;
	} else {
		at->knob++;
	}
	return tree_seek(prefix, at);
}

/* A walk dressed up as a list of names, for ktr_nearest(), which asks for them in turn. */
struct tree_names {
	const struct ktr_conf *conf;
	struct ktr_knob_at at;
};

static int tree_name(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	struct tree_names *walk = context;

	if (!ktr_conf_next(walk->conf, NULL, &walk->at))
		return -ENOENT;
	*value = idx;
	if (strlen(walk->at.name) >= size)
		return 1;
	strcpy(name, walk->at.name);
	return 0;
}

static int tree_unknown(const struct ktr_conf *conf, const char *name, struct ktr_error *err)
{
	struct tree_names walk = { .conf = conf };

	return ktr__unknown_word("knob", name, strlen(name), 0, ENOENT, tree_name, &walk, err);
}

int ktr__conf_nearest(const struct ktr_conf *conf, const char *name, char *nearest, size_t size)
{
	struct tree_names walk = { .conf = conf };

	return ktr_nearest(name, tree_name, &walk, nearest, size);
}

/* Could this row, with something in place of "*", have this name? */
static int tree_row_fits(const struct ktr_knob *row, const char *name)
{
	const char *star = row->instances ? strchr(row->name, '*') : NULL;

	return star ? strncmp(row->name, name, (size_t)(star - row->name)) == 0
		    : strcmp(row->name, name) == 0;
}

int ktr_conf_find(const struct ktr_conf *conf, const char *name, struct ktr_knob_at *at,
		  struct ktr_error *err)
{
	int rc;

	for (struct ktr_knobs *t = tree_load(&conf->tables); t; t = tree_load(&t->next)) {
		for (unsigned i = 0; i < t->n_rows; i++) {
			if (!tree_row_fits(&t->rows[i], name))
				continue;
			memset(at, 0, sizeof(*at));
			at->table = t;
			at->knob = &t->rows[i];
			while ((rc = tree_fill_name(at->knob, t->context, at->instance,
						    at->name)) >= 0) {
				if (rc == 0 && strcmp(at->name, name) == 0)
					return 0;
				at->instance++;
			}
		}
	}
	return tree_unknown(conf, name, err);
}
