/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The column store that traces are shipped to: a ClickHouse server, asked over HTTP or HTTPS. libcurl is loaded
 * when it is first needed; nothing else of ktr knows of it.
 *
 *	rc = store_open(&store, &options, &err);
 *	what = store_ask(&store, "SELECT 1 FORMAT TabSeparated", NULL, NULL, &answer);
 *
 * What a server answers is not trusted: lengths are bounded, text is shown only as lines of it. A password is read
 * from a file that others may not read, and goes into a header, never into an address.
 */
#ifndef FLEET_STORE_H
#define FLEET_STORE_H

#include "tools/options.h"

#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

struct store_options {
	const char *user, *password_file, *database, *ca_file;
	uint64_t rate;	      /* [bytes/s] sent at most; 0: as fast as it goes */
	uint64_t patience_ns; /* how long a server that is away is waited for */
};

#define STORE_DATABASE "ktr"
#define STORE_OPTIONS  { .database = STORE_DATABASE, .patience_ns = 60 * 1000000000ull }

#define OPTIONS_STORE(of, member)                                                                        \
	OPTION_TEXT(0, "user", "NAME", of, member.user, "who asks the server"),                         \
	OPTION_TEXT(0, "password-file", "FILE", of, member.password_file,                               \
		    "the password, in a file that nobody else may read (mode 0600)"),                     \
	OPTION_TEXT(0, "database", "NAME", of, member.database, "where the tables are (" STORE_DATABASE ")"), \
	OPTION_TEXT(0, "ca", "FILE", of, member.ca_file, "the certificate that the server's is checked by")

enum store_outcome {
	STORE_DONE,
	STORE_AWAY,    /* no answer, or one that may be another in a moment; whether it was done is not known */
	STORE_REFUSED  /* asking again is of no use */
};

/* What the server said; text is one line without control characters. */
struct store_answer {
	enum store_outcome outcome;
	int code;  /* of the server's exceptions; 0: none */
	int begun; /* 1: what was sent may have got there */
	char text[600];
	char *bytes; /* owned: what it answered, with a NUL; only of store_ask() without a sink */
	size_t n_bytes;
};

/* Takes a piece of an answer as it comes. 0, or -1: no more is wanted. */
typedef int store_sink_fn(void *context, const uint8_t *bytes, size_t n);

struct store {
	const char *command;
	struct store_options options;
	void *curl, *headers; /* libcurl's */
	char *base;	      /* owned: the address, "http://host:8123/?" */
	char *shown;	      /* owned: as users are told it, "host:8123" */
	int is_old;	      /* 18.16 and what came soon after: no tokens */
	char version[32];
	int is_spread;	      /* its database is of a cluster's shards (cluster.h), */
	int skips_shards;     /* of which those that do not answer are left out: */
	uint64_t n_shards, n_away; /* so many, of so many */
};

/* Parses the address, reads the password and loads libcurl. Asks nothing. 0 or -errno with err filled. */
int store_open(struct store *store, const char *command, const char *url, const struct store_options *options,
	       struct ktr_error *err);
void store_close(struct store *store);

/* Is the database's name one? 0, or 2 after a complaint. */
int store_check_database(const char *command, const struct store_options *options);

/* Asks for its version, waiting for a server that is away. 0 or -errno with err filled. */
int store_greet(struct store *store, struct ktr_error *err);

/*
 * Sends a query and takes what it answers: as a whole, up to 1 MiB, into the answer, or by a sink. The outcome,
 * which is in the answer, too. store_answer_free() gives back what it owns.
 */
enum store_outcome store_ask(struct store *store, const char *query, store_sink_fn *sink, void *context,
			     struct store_answer *answer);

/* The same until it is not away, or patience is at an end. */
enum store_outcome store_ask_patiently(struct store *store, const char *query, struct store_answer *answer);

/*
 * Inserts compressed bytes (frame.h) by a query such as "INSERT INTO t (a,b) FORMAT Native". token: what the
 * server may know the block by if it comes again, or NULL.
 */
enum store_outcome store_insert(struct store *store, const char *query, const char *token, const uint8_t *bytes,
				size_t n, struct store_answer *answer);

/* [ns] The moment, of CLOCK_MONOTONIC, at which patience is at an end if it begins now; what is left until one. */
uint64_t store_until(const struct store *store);
uint64_t store_left(uint64_t until_ns);
uint64_t store_now(void);

/* Sleeps before try number n, from 0: 0.2 s, doubling up to 60 s, each time a little other. [ns] slept */
uint64_t store_pause(unsigned n, uint64_t most_ns);

/* The one number that an answer is, and nothing besides. 0, or -EPROTO. */
int store_number(const struct store_answer *answer, uint64_t *number);

void store_answer_free(struct store_answer *answer);

/* One line about what an outcome other than STORE_DONE means, for users: into err. Returns -errno. */
int store_explain(const struct store *store, const struct store_answer *answer, struct ktr_error *err);

/* A text as a literal of SQL, quotes included, appended. */
struct native_buffer;
void store_quote(struct native_buffer *to, const char *text, size_t n);

#endif
