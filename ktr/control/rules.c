/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call sites switched one by one: the rules of debug.ktr.sites, and what they make of a site.
 *
 *	rules	= [ rule { ("," | blank) rule } ]
 *	rule	= "none" | [ "+" | "-" | "#" ] pattern		record, do not, count instead
 *	pattern	= a glob (conf/eval/glob.c) for FILE, FILE:LINE, FUNCTION or FUNCTION(), FILE with or without
 *		  its directories; or ktr:MODULE:FUNCTION:FILE:LINE, a SPEC (conf/eval/spec.h)
 *
 * Of several rules that fit a site the last one counts. Setting adds to the rules there are; a pattern
 * that is among them moves to the end with its new sign, and "none" forgets those before it. So the list
 * reads back as it prints.
 *
 * The text lies in the control page, and each site's override byte follows from it. Whoever changes the
 * text walks the sites there are; whoever registers a site asks the text afterwards, and again when
 * sites_change has moved meanwhile: one of the two sees the other. Two who change it at the same time may
 * leave a mixture, which parses like anything else.
 */
#include "ktr/control/rules.h"

#include "conf/eval/glob.h"
#include "conf/eval/spec.h"
#include "conf/nearest.h"
#include "ktr/control/counts.h"
#include "ktr/control/mask.h"
#include "ktr/control/rings.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RULES_PATTERN 128 /* bytes, with the NUL */
#define RULES_TRIES   64 /* others change the rules while a site registers */
#define RULES_NEAREST 8192 /* sites that a misspelt pattern is compared with */

struct rules_rule {
	char sign;
	char pattern[RULES_PATTERN];
};

/* A string of the session, of which the end is kept: others write there. */
static void rules_string(const struct ktr__session_rw *session, uint32_t offset,
			 char text[RULES_PATTERN])
{
	size_t n;
	const char *from = ktr__session_bytes(session, offset, &n);

	if (n >= RULES_PATTERN) {
		from += n - (RULES_PATTERN - 1);
		n = RULES_PATTERN - 1;
	}
	memcpy(text, from, n);
	text[n] = '\0';
}

void ktr__rules_text(const struct ktr__session_rw *session, char text[KTR_SITES_MAX])
{
	memcpy(text, session->control->sites, KTR_SITES_MAX);
	text[KTR_SITES_MAX - 1] = '\0';
}

/* Takes the next rule off a text. 1, 0 at its end, -ERANGE. */
static int rules_next(const char **at, struct rules_rule *rule)
{
	const char *p = *at + strspn(*at, ", \t");
	size_t n;

	rule->sign = *p && strchr("+-#", *p) ? *p++ : '+';
	n = strcspn(p, ", \t");
	*at = p + n;
	if (n >= RULES_PATTERN)
		return -ERANGE;
	memcpy(rule->pattern, p, n);
	rule->pattern[n] = '\0';
	return n != 0;
}

static bool rules_fits(const char *pattern, const char *text)
{
	const char *base = strrchr(text, '/');

	size_t n_pattern = strlen(pattern);

	return ktr__glob(pattern, n_pattern, text, strlen(text)) ||
	       (base && ktr__glob(pattern, n_pattern, base + 1, strlen(base + 1)));
}

void ktr__rules_probe(const struct ktr__session_rw *session, const struct ktr_site_row *row,
		      char name[KTR__RULES_PROBE])
{
	const uint32_t part[] = { row->module, row->func, row->file };
	char *end = name + KTR__RULES_PROBE;
	char text[RULES_PATTERN];

	memcpy(name, "ktr", 3);
	name += 3;
	for (int i = 0; i < 3; i++) {
		const char *base;

		rules_string(session, part[i], text);
		base = strrchr(text, '/');
		name += snprintf(name, (size_t)(end - name), ":%s", base ? base + 1 : text);
	}
	snprintf(name, (size_t)(end - name), ":%u", row->line);
}

static bool rules_match(const struct ktr__session_rw *session, const struct ktr_site_row *row,
			const char *pattern)
{
	char probe[KTR__RULES_PROBE];
	char text[RULES_PATTERN + 16];
	size_t n;

	/* One that is made at run time has no module, and is a probe of somebody else's. */
	if (strncmp(pattern, "ktr:", 4) == 0) {
		ktr__rules_probe(session, row, probe);
		return row->module && ktr__spec_fits(pattern, strlen(pattern), probe);
	}
	rules_string(session, row->file, text);
	n = strlen(text);
	if (rules_fits(pattern, text))
		return true;
	snprintf(text + n, sizeof(text) - n, ":%u", row->line);
	if (rules_fits(pattern, text))
		return true;
	rules_string(session, row->func, text);
	return rules_fits(pattern, text) || rules_fits(pattern, strcat(text, "()"));
}

static const struct ktr_site_row *rules_row(const struct ktr__session_rw *session, uint32_t index)
{
	return ktr__session_ready(session, KTR_REGION_site, index);
}

static bool rules_match_any(const struct ktr__session_rw *session, const char *pattern)
{
	const struct ktr_site_row *row;

	for (uint32_t i = 1; i < ktr__session_n_sites(session); i++) {
		row = rules_row(session, i);
		if (row && rules_match(session, row, pattern))
			return true;
	}
	return false;
}

/* What a pattern may have meant: each site's file, place and function. */
static int rules_name(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct ktr__session_rw *session = context;
	const struct ktr_site_row *row;
	char text[RULES_PATTERN];
	const char *base;

	*value = idx;
	if (idx / 3 + 1 >= ktr__session_n_sites(session) || idx / 3 >= RULES_NEAREST)
		return -ENOENT;
	row = rules_row(session, idx / 3 + 1);
	if (!row)
		return 1;
	rules_string(session, idx % 3 ? row->file : row->func, text);
	base = strrchr(text, '/');
	snprintf(name, size, idx % 3 == 2 ? "%s:%u" : "%s", base ? base + 1 : text, row->line);
	return 0;
}

static int rules_unknown(const struct ktr__session_rw *session, const char *pattern,
			 struct ktr_error *err)
{
	struct ktr__session_rw copy = *session;

	return ktr__unknown_word("call site", pattern, strlen(pattern), 0, ENOENT, rules_name, &copy,
			    err);
}

int ktr__rules_check(const struct ktr__session_rw *session, struct ktr_error *err)
{
	char text[KTR_SITES_MAX];
	const char *at = text;
	struct rules_rule rule;

	ktr__rules_text(session, text);
	while (rules_next(&at, &rule) > 0)
		if (!rules_match_any(session, rule.pattern))
			return rules_unknown(session, rule.pattern, err);
	return 0;
}

/* The override byte of a site. */
static uint8_t rules_byte(const struct ktr__session_rw *session, const char *text,
			  const struct ktr_site_row *row)
{
	struct rules_rule rule;
	uint8_t byte = 0;

	while (rules_next(&text, &rule) > 0)
		if (rules_match(session, row, rule.pattern))
			byte = rule.sign == '+'   ? KTR_SITE_ON
			       : rule.sign == '-' ? KTR_SITE_OFF
						  : KTR_SITE_OFF | KTR_SITE_COUNT;
	return byte;
}

/* Makes a site what the rules say. Returns the classes the gate must let pass for it. */
static uint64_t rules_apply(struct ktr__session_rw *session, const char *text, uint32_t index)
{
	const struct ktr_site_row *row = rules_row(session, index);
	uint8_t byte = row ? rules_byte(session, text, row) : 0;
	uint8_t *to = ktr__session_at(session, KTR_REGION_site_ctl, index);

	if (!to)
		return 0;
	if (byte & KTR_SITE_COUNT && ktr__counts_open(session, index + 1))
		byte = 0;
	if (byte == KTR_SITE_ON && ktr__rings_open(session, 0, NULL))
		byte = 0;
	/* The trigger's bit is not ours. */
	__atomic_fetch_and(to, byte | KTR_SITE_TRIGGER, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(to, byte, __ATOMIC_SEQ_CST);
	return byte && byte != KTR_SITE_OFF ? row->mask : 0;
}

void ktr__rules_site(struct ktr__session_rw *session, uint32_t index)
{
	struct ktr_control *control = session->control;
	char text[KTR_SITES_MAX];
	uint64_t classes;
	uint32_t change;
	int tries = 0;

	do {
		change = __atomic_load_n(&control->sites_change, __ATOMIC_SEQ_CST);
		if (!change)
			return;
		ktr__rules_text(session, text);
		classes = rules_apply(session, text, index);
		if (__atomic_fetch_or(&control->site_masks, classes, __ATOMIC_RELAXED) !=
		    (control->site_masks | classes))
			ktr__mask_publish(session);
	} while (__atomic_load_n(&control->sites_change, __ATOMIC_SEQ_CST) != change && ++tries < RULES_TRIES);
}

/*
 * Copies those rules of a list that are not of this pattern. Returns whether there was one that is. The list is the
 * session's: with a sign before each rule it may be longer than there is room for.
 */
static bool rules_without(const char *list, const char *pattern, char to[KTR_SITES_MAX])
{
	struct rules_rule rule;
	size_t n = 0;
	bool found = false;

	to[0] = '\0';
	while (rules_next(&list, &rule) > 0) {
		if (strcmp(rule.pattern, pattern) == 0)
			found = true;
		else if (n + strlen(rule.pattern) + 3 <= KTR_SITES_MAX)
			n += (size_t)snprintf(to + n, KTR_SITES_MAX - n, "%s%c%s", n ? "," : "",
					      rule.sign, rule.pattern);
	}
	return found;
}

/* Adds the rules of a text to a list. */
static int rules_merge(const struct ktr__session_rw *session, const char *text, bool check,
		       char list[KTR_SITES_MAX], struct ktr_error *err)
{
	char rest[KTR_SITES_MAX];
	struct rules_rule rule;
	size_t n;
	int rc;

	while ((rc = rules_next(&text, &rule)) > 0) {
		if (strcmp(rule.pattern, "none") == 0) {
			list[0] = '\0';
			continue;
		}
		if (!rules_without(list, rule.pattern, rest) && check &&
		    !rules_match_any(session, rule.pattern))
			return rules_unknown(session, rule.pattern, err);
		n = strlen(rest);
		if (n + strlen(rule.pattern) + 3 > KTR_SITES_MAX)
			return ktr_error_set(err, ERANGE, "more rules than fit into %u bytes",
					     KTR_SITES_MAX);
		snprintf(rest + n, sizeof(rest) - n, "%s%c%s", n ? "," : "", rule.sign,
			 rule.pattern);
		memcpy(list, rest, sizeof(rest));
	}
	return rc ? ktr_error_set(err, ERANGE, "a pattern has more than %u bytes",
				  RULES_PATTERN - 1)
		  : 0;
}

int ktr__rules_set(struct ktr__session_rw *session, const char *text, bool check,
		   struct ktr_error *err)
{
	struct ktr_control *control = session->control;
	char list[KTR_SITES_MAX] = "";
	uint32_t n = ktr__session_n_sites(session);
	uint64_t classes = 0;
	int rc;

	ktr__rules_text(session, list);
	rc = rules_merge(session, text, check, list, err);
	if (!rc && strchr(list, '+'))
		rc = ktr__rings_open(session, 0, err);
	if (!rc)
		rc = ktr__populate(ktr__region_rows(session, site_ctl, uint8_t), n);
	if (rc && rc != -ENOSYS)
		return rc;
	memcpy(control->sites, list, sizeof(list));
	__atomic_fetch_add(&control->sites_change, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 1; i < n; i++)
		classes |= rules_apply(session, list, i);
	__atomic_store_n(&control->site_masks, classes, __ATOMIC_RELAXED);
	ktr__mask_publish(session);
	return 0;
}
