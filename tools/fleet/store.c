/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions and answers over HTTP.
 *
 * A server says that something went wrong by a status, by a body that begins with "Code: 60, ...", or, when it had
 * begun to answer, by such a line at the end of it. What is worth another try is what its codes call a matter of
 * the moment, and all that broke on the way.
 */
#include "tools/fleet/store.h"

#include "tools/fleet/cluster.h"

#include "conf/kit/utf8.h"
#include "tools/fleet/curl_load.h"
#include "tools/fleet/native.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STORE_ANSWER_MAX   ((size_t)1 << 20) /* [bytes] kept of an answer */
#define STORE_TAIL	   1024 /* [bytes] of an answer's end, in which a late exception is looked for */
#define STORE_PASSWORD_MAX 1024
#define STORE_SEND_BYTES   (512L << 10) /* [bytes] handed to the socket at once */
#define STORE_SECOND_NS	   1000000000ull
#define STORE_PAUSE_NS	   200000000ull
#define STORE_PAUSE_MAX_NS (60 * STORE_SECOND_NS)
#define STORE_FIRST_TOKEN  2206 /* version, year and month, from which on blocks may have tokens */

/* Codes of exceptions that say "not now": of ClickHouse's ErrorCodes.cpp. */
static const int store_not_now[] = {
	159, /* TIMEOUT_EXCEEDED */
	164, /* READONLY, of a table whose keeper is away, too: told apart by its text */
	202, /* TOO_MANY_SIMULTANEOUS_QUERIES */
	209, /* SOCKET_TIMEOUT */
	210, /* NETWORK_ERROR */
	216, /* QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: the block is on its way */
	225, /* NO_ZOOKEEPER */
	236, /* ABORTED: it is ending */
	241, /* MEMORY_LIMIT_EXCEEDED */
	242, /* TABLE_IS_READ_ONLY: the keeper is away */
	243, /* NOT_ENOUGH_SPACE */
	252, /* TOO_MANY_PARTS */
	279, /* ALL_CONNECTION_TRIES_FAILED */
	285, /* TOO_FEW_LIVE_REPLICAS */
	319, /* UNKNOWN_STATUS_OF_INSERT */
	999, /* KEEPER_EXCEPTION */
};

/* What comes of one request. */
struct store_reply {
	struct native_buffer body;
	store_sink_fn *sink;
	void *context;
	char head[64]; /* the first bytes */
	size_t n_head;
	char tail[STORE_TAIL]; /* the last ones */
	size_t n_tail;
	int is_long, stopped;
};

/* ---- opening ---- */

static int store_password(const char *path, char *password, struct ktr_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st))
		ktr_error_at(err, path, 0, 0, errno, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		ktr_error_at(err, path, 0, 0, EINVAL, "is no file");
	else if (st.st_mode & 077)
		ktr_error_at(err, path, 0, 0, EACCES, "others may read it: chmod 600 %s", path);
	else if ((n = read(fd, password, STORE_PASSWORD_MAX - 1)) < 0)
		ktr_error_at(err, path, 0, 0, errno, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return err && err->code ? -err->code : -EIO;
	password[n] = 0;
	password[strcspn(password, "\r\n")] = 0;
	return 0;
}

static int store_header(struct store *store, const char *name, const char *value, struct ktr_error *err)
{
	char line[STORE_PASSWORD_MAX + 64];
	void *more;

	for (const char *at = value; *at; at++)
		if ((unsigned char)*at < ' ')
			return ktr_error_set(err, EINVAL, "%s: a control character", name);
	snprintf(line, sizeof(line), "%s: %s", name, value);
	more = curl_load.slist_append(store->headers, line);
	explicit_bzero(line, sizeof(line));
	if (!more)
		return ktr_error_set(err, ENOMEM, "no memory");
	store->headers = more;
	return 0;
}

/* "http://host:8123/path" into base and shown. */
static int store_address(struct store *store, const char *url, struct ktr_error *err)
{
	const char *host = strstr(url, "://");
	size_t n;

	if (!host || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0))
		return ktr_error_set(err, EINVAL, "\"%s\" is no address such as http://host:8123", url);
	host += 3;
	n = strcspn(host, "/?#");
	if (memchr(host, '@', n))
		return ktr_error_set(err, EINVAL,
				     "an address is seen by all: --user and --password-file say who asks");
	if (!n || host[n] == '?' || host[n] == '#' || strpbrk(host + n, "?#"))
		return ktr_error_set(err, EINVAL, "\"%s\" is no address such as http://host:8123", url);
	if (asprintf(&store->base, "%s%s?", url, host[n] ? "" : "/") < 0 ||
	    asprintf(&store->shown, "%.*s", (int)n, host) < 0)
		return ktr_error_set(err, ENOMEM, "no memory");
	return 0;
}

int store_open(struct store *store, const char *command, const char *url, const struct store_options *options,
	       struct ktr_error *err)
{
	char password[STORE_PASSWORD_MAX] = "";
	int rc;

	memset(store, 0, sizeof(*store));
	store->command = command;
	store->options = *options;
	rc = store_address(store, url, err);
	if (!rc && options->password_file)
		rc = store_password(options->password_file, password, err);
	if (!rc)
		rc = curl_load_library(err);
	if (!rc && !(store->curl = curl_load.easy_init()))
		rc = ktr_error_set(err, ENOMEM, "no memory");
	/* Without it curl waits a second for "100 Continue" before a long body. */
	if (!rc)
		rc = store_header(store, "Expect", "", err);
	if (!rc && options->user)
		rc = store_header(store, "X-ClickHouse-User", options->user, err);
	if (!rc && *password)
		rc = store_header(store, "X-ClickHouse-Key", password, err);
	explicit_bzero(password, sizeof(password));
	if (rc)
		store_close(store);
	return rc;
}

int store_check_database(const char *command, const struct store_options *options)
{
	if (cluster_is_name(options->database))
		return 0;
	return usage_error(command, "--database %s: letters, digits and _", options->database);
}

void store_close(struct store *store)
{
	if (store->headers)
		curl_load.slist_free_all(store->headers);
	if (store->curl)
		curl_load.easy_cleanup(store->curl);
	free(store->base);
	free(store->shown);
	memset(store, 0, sizeof(*store));
}

/* ---- one request ---- */

static size_t store_takes(char *bytes, size_t size, size_t n, void *context)
{
	struct store_reply *reply = context;
	size_t part;

	n *= size;
	part = sizeof(reply->head) - 1 - reply->n_head;
	part = part < n ? part : n;
	memcpy(reply->head + reply->n_head, bytes, part);
	reply->n_head += part;
	part = n < STORE_TAIL ? n : STORE_TAIL;
	if (reply->n_tail + part > STORE_TAIL) {
		size_t keep = STORE_TAIL - part;

		memmove(reply->tail, reply->tail + reply->n_tail - keep, keep);
		reply->n_tail = keep;
	}
	memcpy(reply->tail + reply->n_tail, bytes + n - part, part);
	reply->n_tail += part;
	if (reply->sink) {
		reply->stopped = reply->sink(reply->context, (const uint8_t *)bytes, n) != 0;
		return reply->stopped ? 0 : n;
	}
	if (reply->body.n + n > STORE_ANSWER_MAX) {
		reply->is_long = 1;
		return 0;
	}
	native_buffer_add(&reply->body, bytes, n);
	return reply->body.failed ? 0 : n;
}

/*
 * The number after "Code: " where an exception begins; 0: there is none. late: after an answer that had begun, as
 * its last line, for what was asked for may have such lines, too.
 */
static int store_code(const char *text, size_t n, int late, const char **line, size_t *n_line)
{
	static const char mark[] = "Code: ";

	for (size_t at = 0; at + sizeof(mark) < n; at++) {
		if (memcmp(text + at, mark, sizeof(mark) - 1) != 0 ||
			!isdigit((unsigned char)text[at + sizeof(mark) - 1]) ||
		    !(memmem(text + at, n - at, "DB::Exception", 13) || memmem(text + at, n - at, "e.displayText",
			13)))
			continue;
		if (late && ((at && text[at - 1] != '\n') || memchr(text + at, '\n', n - at - 1)))
			continue;
		*line = text + at;
		*n_line = n - at;
		return atoi(text + at + sizeof(mark) - 1);
	}
	return 0;
}

/* A line of it, visible. */
static void store_line(struct store_answer *answer, const char *text, size_t n)
{
	char clean[4 * 140 + 1];
	const char *end = memchr(text, '\n', n);

	n = end ? (size_t)(end - text) : n;
	n = ktr__utf8_visible(clean, text, n < 140 ? n : 140);
	clean[n] = 0;
	snprintf(answer->text, sizeof(answer->text), "%s", clean);
}

static int store_is_not_now(const struct store_answer *answer)
{
	for (unsigned i = 0; i < sizeof(store_not_now) / sizeof(*store_not_now); i++)
		if (answer->code == store_not_now[i])
			return answer->code != 164 || strstr(answer->text, "eplica") != NULL;
	return 0;
}

/* What of it was an exception, or a status. */
static void store_judge(struct store_answer *answer, const struct store_reply *reply, long status)
{
	const char *line = reply->head;
	size_t n = reply->n_head;
	char tail[STORE_TAIL + 1];

	memcpy(tail, reply->tail, reply->n_tail);
	tail[reply->n_tail] = 0;
	if (status != 200 || reply->n_tail)
		answer->code = store_code(tail, reply->n_tail, status == 200, &line, &n);
	if (answer->code) {
		store_line(answer, line, n);
		answer->outcome = store_is_not_now(answer) ? STORE_AWAY : STORE_REFUSED;
	} else if (status != 200) {
		char first[80];

		store_line(answer, reply->head, reply->n_head);
		snprintf(first, sizeof(first), "%.60s", answer->text);
		snprintf(answer->text, sizeof(answer->text), "it answers with status %ld%s%s", status, *first ?
			": " : "",
			 first);
		answer->outcome = status == 429 || status >= 500 ? STORE_AWAY : STORE_REFUSED;
	}
}

static void store_options_set(struct store *store, const char *url, struct store_reply *reply)
{
	curl_load.easy_reset(store->curl);
	curl_load.easy_setopt(store->curl, CURL_LOAD_URL, url);
	curl_load.easy_setopt(store->curl, CURL_LOAD_PROTOCOLS, CURL_LOAD_HTTP_AND_HTTPS);
	curl_load.easy_setopt(store->curl, CURL_LOAD_NOSIGNAL, 1L);
	curl_load.easy_setopt(store->curl, CURL_LOAD_HTTPHEADER, store->headers);
	curl_load.easy_setopt(store->curl, CURL_LOAD_CONNECTTIMEOUT, 10L);
	/* A query may take its time; one of which nothing has come for five minutes does not come. */
	curl_load.easy_setopt(store->curl, CURL_LOAD_LOW_SPEED_LIMIT, 1L);
	curl_load.easy_setopt(store->curl, CURL_LOAD_LOW_SPEED_TIME, 300L);
	curl_load.easy_setopt(store->curl, CURL_LOAD_WRITEFUNCTION, store_takes);
	curl_load.easy_setopt(store->curl, CURL_LOAD_WRITEDATA, reply);
	curl_load.easy_setopt(store->curl, CURL_LOAD_POST, 1L);
	/* At a rate little at once, else fewer calls for as many bytes. */
	if (store->options.rate)
		curl_load.easy_setopt(store->curl, CURL_LOAD_MAX_SEND_SPEED, (long long)store->options.rate);
	else
		curl_load.easy_setopt(store->curl, CURL_LOAD_UPLOAD_BUFFERSIZE, STORE_SEND_BYTES);
	if (store->options.ca_file)
		curl_load.easy_setopt(store->curl, CURL_LOAD_CAINFO, store->options.ca_file);
}

/* once: libcurl itself sends it anew where a connection that it has used before turns out to be closed. */
static enum store_outcome store_send(struct store *store, const char *url, const void *body, size_t n, int once,
				     struct store_reply *reply, struct store_answer *answer)
{
	long status = 0;
	int rc;

	memset(answer, 0, sizeof(*answer));
	store_options_set(store, url, reply);
	if (once)
		curl_load.easy_setopt(store->curl, CURL_LOAD_FRESH_CONNECT, 1L);
	curl_load.easy_setopt(store->curl, CURL_LOAD_POSTFIELDS, body);
	curl_load.easy_setopt(store->curl, CURL_LOAD_POSTFIELDSIZE, (long long)n);
	rc = curl_load.easy_perform(store->curl);
	curl_load.easy_getinfo(store->curl, CURL_LOAD_RESPONSE_CODE, &status);
	answer->outcome = STORE_DONE;
	/* Only a connection that was never there has got nothing. */
	answer->begun = rc != CURL_LOAD_COULDNT_CONNECT && rc != CURL_LOAD_COULDNT_RESOLVE;
	if (reply->body.failed || reply->is_long || (reply->stopped && rc)) {
		answer->outcome = STORE_REFUSED;
		snprintf(answer->text, sizeof(answer->text), "%s",
			 reply->is_long ? "its answer is too long" : reply->stopped ? "its answer makes no sense"
				: "no memory");
	} else if (rc) {
		answer->outcome = curl_load_is_final(rc) ? STORE_REFUSED : STORE_AWAY;
		snprintf(answer->text, sizeof(answer->text), "%s", curl_load.easy_strerror(rc));
	}
	if (status && answer->outcome != STORE_REFUSED) {
		struct store_answer judged = { .outcome = STORE_DONE };

		store_judge(&judged, reply, status);
		/* An exception says more than the connection that broke after it. */
		if (judged.outcome != STORE_DONE) {
			judged.begun = answer->begun;
			*answer = judged;
		}
	}
	if (!reply->sink && answer->outcome == STORE_DONE) {
		native_buffer_add(&reply->body, "", 1);
		answer->bytes = (char *)reply->body.at;
		answer->n_bytes = reply->body.n - 1;
		memset(&reply->body, 0, sizeof(reply->body));
	}
	native_buffer_free(&reply->body);
	return answer->outcome;
}

/* Appends "name=value&", the value as an address has it. */
static void store_parameter(struct native_buffer *url, const char *name, const char *value)
{
	char hex[4];

	native_buffer_text(url, name);
	native_buffer_text(url, "=");
	for (; *value; value++) {
		if (isalnum((unsigned char)*value) || strchr("-._~", *value)) {
			native_buffer_add(url, value, 1);
			continue;
		}
		snprintf(hex, sizeof(hex), "%%%02X", (unsigned char)*value);
		native_buffer_add(url, hex, 3);
	}
	native_buffer_text(url, "&");
}

enum store_outcome store_ask(struct store *store, const char *query, store_sink_fn *sink, void *context,
			     struct store_answer *answer)
{
	struct store_reply reply = { .sink = sink, .context = context };
	struct native_buffer url = { 0 };
	enum store_outcome outcome;

	native_buffer_text(&url, store->base);
	/* Who may only read may not set anything. */
	if (store->is_old && strncmp(query, "CREATE", 6) == 0)
		store_parameter(&url, "allow_experimental_low_cardinality_type", "1");
	/* A trace and all that is told of it are on one shard. */
	if (store->is_spread)
		store_parameter(&url, "distributed_product_mode", "local");
	if (store->skips_shards)
		store_parameter(&url, "skip_unavailable_shards", "1");
	native_buffer_add(&url, "", 1);
	if (url.failed) {
		*answer = (struct store_answer){ .outcome = STORE_REFUSED, .text = "no memory" };
		return answer->outcome;
	}
	outcome = store_send(store, (const char *)url.at, query, strlen(query), 0, &reply, answer);
	native_buffer_free(&url);
	return outcome;
}

enum store_outcome store_insert(struct store *store, const char *query, const char *token, const uint8_t *bytes,
				size_t n, struct store_answer *answer)
{
	struct store_reply reply = { .sink = NULL };
	struct native_buffer url = { 0 };
	enum store_outcome outcome;

	native_buffer_text(&url, store->base);
	store_parameter(&url, "query", query);
	store_parameter(&url, "decompress", "1");
	store_parameter(&url, "http_native_compression_disable_checksumming_on_decompress", "1");
	if (token)
		store_parameter(&url, "query_id", token);
	if (store->is_old)
		store_parameter(&url, "allow_experimental_low_cardinality_type", "1");
	else if (token) {
		store_parameter(&url, "insert_deduplication_token", token);
		store_parameter(&url, "deduplicate_blocks_in_dependent_materialized_views", "1");
	}
	native_buffer_add(&url, "", 1);
	if (url.failed) {
		*answer = (struct store_answer){ .outcome = STORE_REFUSED, .text = "no memory" };
		return answer->outcome;
	}
	outcome = store_send(store, (const char *)url.at, bytes, n, 1, &reply, answer);
	native_buffer_free(&url);
	return outcome;
}

/* ---- again ---- */

uint64_t store_pause(unsigned n, uint64_t most_ns)
{
	uint64_t ns = n < 9 ? STORE_PAUSE_NS << n : STORE_PAUSE_MAX_NS, chance = 0;
	struct timespec t;

	if (ns > STORE_PAUSE_MAX_NS)
		ns = STORE_PAUSE_MAX_NS;
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) > 0)
		ns = ns / 2 + chance % (ns / 2 + 1);
	if (ns > most_ns)
		ns = most_ns;
	t = (struct timespec){ (time_t)(ns / STORE_SECOND_NS), (long)(ns % STORE_SECOND_NS) };
	nanosleep(&t, NULL);
	return ns;
}

uint64_t store_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * STORE_SECOND_NS + (uint64_t)t.tv_nsec;
}

uint64_t store_left(uint64_t until_ns)
{
	uint64_t now = store_now();

	return until_ns > now ? until_ns - now : 0;
}

uint64_t store_until(const struct store *store)
{
	uint64_t now = store_now();

	return store->options.patience_ns < UINT64_MAX - now ? now + store->options.patience_ns : UINT64_MAX;
}

enum store_outcome store_ask_patiently(struct store *store, const char *query, struct store_answer *answer)
{
	uint64_t until = store_until(store);

	for (unsigned n = 0;; n++) {
		if (store_ask(store, query, NULL, NULL, answer) != STORE_AWAY || !store_left(until))
			return answer->outcome;
		store_answer_free(answer);
		store_pause(n, store_left(until));
	}
}

int store_greet(struct store *store, struct ktr_error *err)
{
	struct store_answer answer;
	unsigned year = 0, month = 0;
	int rc = 0;

	if (store_ask_patiently(store, "SELECT version() FORMAT TabSeparated", &answer) != STORE_DONE)
		rc = store_explain(store, &answer, err);
	else if (sscanf(answer.bytes, "%u.%u", &year, &month) != 2 || year > 1000 || month > 1000)
		rc = ktr_error_set(err, EPROTO, "%s does not answer as ClickHouse does", store->shown);
	else
		snprintf(store->version, sizeof(store->version), "%u.%u", year, month);
	store->is_old = year * 100 + month < STORE_FIRST_TOKEN;
	store_answer_free(&answer);
	return rc;
}

int store_number(const struct store_answer *answer, uint64_t *number)
{
	char *end;

	errno = 0;
	if (!answer->bytes || !isdigit((unsigned char)answer->bytes[0]))
		return -EPROTO;
	*number = strtoull(answer->bytes, &end, 10);
	return errno || strcmp(end, "\n") != 0 ? -EPROTO : 0;
}

void store_answer_free(struct store_answer *answer)
{
	free(answer->bytes);
	answer->bytes = NULL;
}

int store_explain(const struct store *store, const struct store_answer *answer, struct ktr_error *err)
{
	const char *who = store->options.user ? store->options.user : "default";

	switch (answer->code) {
	case 192: /* UNKNOWN_USER */
	case 193: /* WRONG_PASSWORD */
	case 194: /* REQUIRED_PASSWORD */
	case 516: /* AUTHENTICATION_FAILED */
		return ktr_error_set(err, EACCES,
				     "%s does not know the user %s by that password (--user, --password-file)",
				     store->shown, who);
	case 60: /* UNKNOWN_TABLE */
	case 81: /* UNKNOWN_DATABASE */
		return ktr_error_set(err, ENOENT, "%s has not all tables in %s; `ktr ship --create` makes them: %s",
				     store->shown, store->options.database, answer->text);
	case 242: /* TABLE_IS_READ_ONLY */
		return ktr_error_set(err, EROFS, "%s: a table can only be read just now: %s", store->shown,
				     answer->text);
	case 164: /* READONLY */
	case 291: /* DATABASE_ACCESS_DENIED */
	case 497: /* ACCESS_DENIED */
		return ktr_error_set(err, EACCES, "%s: the user %s may not do that: %s", store->shown, who,
				     answer->text);
	default:
		return ktr_error_set(err, answer->outcome == STORE_AWAY ? EHOSTUNREACH : EPROTO, "%s%s: %s",
			store->shown,
				     answer->outcome == STORE_AWAY ? " cannot be reached" : "", answer->text);
	}
}

void store_quote(struct native_buffer *to, const char *text, size_t n)
{
	native_buffer_text(to, "'");
	for (size_t i = 0; i < n; i++) {
		char hex[8];

		if ((unsigned char)text[i] >= ' ' && text[i] != '\'' && text[i] != '\\' &&
			(unsigned char)text[i] < 0x7f) {
			native_buffer_add(to, text + i, 1);
			continue;
		}
		snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)text[i]);
		native_buffer_text(to, hex);
	}
	native_buffer_text(to, "'");
}
