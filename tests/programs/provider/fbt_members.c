/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions whose arguments, and results, point to structs of all kinds of members. Each call prints itself as
 * `ktr dump --calls` is to print it; `wait`: and waits for a line first, so that it can be asked from outside;
 * `spin`: calls members_plain() until a line comes, by two threads.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __clang__
#define STAY __attribute__((noinline))
#else
#define STAY __attribute__((noinline, noclone))
#endif
#define KEEP __asm__ volatile("" ::: "memory")

enum state { IDLE, BUSY = 7, LOST = -3 };

struct peer {
	uint16_t port;
	const char *name;
	struct peer *next;
};

struct request {
	char pad[100];
	int len;
	uint8_t small;
	int64_t far;
	bool yes;
	char letter;
	float f;
	double d;
	enum state state;
	const char *url;
	char tag[8];
	char text[100];
	int numbers[3];
	unsigned bits : 3;
	int low : 5;
	unsigned long wide : 33;
	union {
		uint32_t word;
		float real;
	};
	struct {
		short x, y;
	} at;
	struct peer peer;
	struct peer *conn;
	void *p;
};

#ifdef __cplusplus
extern "C" {
#endif

STAY int members_plain(struct request *req, int n);
STAY int members_plain(struct request *req, int n)
{
	KEEP;
	return req ? n : -n;
}

STAY struct request *members_result(struct request *req);
STAY struct request *members_result(struct request *req)
{
	KEEP;
	return req;
}

STAY void members_out(int *count, const char **name, double *half);
STAY void members_out(int *count, const char **name, double *half)
{
	/* What nobody reads clang does not pass, nor store. */
	__asm__ volatile("" : : "r"(count), "r"(name), "r"(half) : "memory");
}

STAY long members_stack(long a, long b, long c, long d, long e, long f, const struct request *req);
STAY long members_stack(long a, long b, long c, long d, long e, long f, const struct request *req)
{
	KEEP;
	return a + b + c + d + e + f + (req != NULL);
}

#ifdef __cplusplus
}

namespace space {
struct Base {
	int base = 11;
};
struct Other {
	long other = 12;
};
class Box : public Base, public Other {
	int n;

public:
	explicit Box(int with) : n(with) {}
	Box(const Box &box) : Base(box), Other(box), n(box.n) {}
	~Box() { KEEP; }
	STAY int add(const Box &box);
	int get() const { return n; }
};

int Box::add(const Box &box)
{
	KEEP;
	return n + box.n;
}

STAY int by_value(Box box, int n);
STAY int by_value(Box box, int n)
{
	KEEP;
	return box.get() + n;
}
}
#endif

static int members_end;

static void *members_spin(void *context)
{
	while (!__atomic_load_n(&members_end, __ATOMIC_RELAXED))
		members_plain((struct request *)context, 5);
	return context;
}

static void members_spins(struct request *req)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, members_spin, req);
	getchar();
	__atomic_store_n(&members_end, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

/* What MEMBERS are, as dump shows them. */
static void members_print(struct request *req, const char *set)
{
	static const struct request none = { { 0 } };
	const struct request *r = req ? req : &none;

	if (strcmp(set, "numbers") == 0)
		printf("req->len=%d, req->small=%u, req->far=%lld, req->yes=%d, req->letter='%c'", r->len, r->small,
		       (long long)r->far, r->yes, r->letter);
	else if (strcmp(set, "others") == 0)
		printf("req->f=%.7g, req->d=%.15g, req->state=%s, req->url=\"%s\", req->tag=\"%.8s\"", (double)r->f,
		       r->d, r->state == BUSY ? "BUSY" : r->state == LOST ? "LOST" : "IDLE",
		       r->url ? r->url : "(null)", r->tag);
	else if (strcmp(set, "bits") == 0)
		printf("req->bits=%u, req->low=%d, req->wide=%lu, req->word=%u, req->real=%.7g", r->bits, r->low,
		       (unsigned long)r->wide, r->word, (double)r->real);
	else if (strcmp(set, "deep") == 0)
		printf("req->at.y=%d, req->peer.name=\"%s\", req->conn->port=%u, req->conn->next->port=%u, "
		       "req->conn->next->name=\"%s\"", r->at.y, r->peer.name, r->conn->port, r->conn->next->port,
		       r->conn->next->name);
	else if (strcmp(set, "text") == 0)
		printf("req->text=\"%.64s...\", req->numbers=%p", r->text, (const void *)r->numbers);
}

int main(int argc, char **argv)
{
	static struct peer last = { 99, "last", NULL }, first = { 81, "first", &last };
	static struct request req;
	const char *set = argc > 1 ? argv[1] : "";
	const char *name = "name";
	double half = 0.5;
	int count = 3;

	memset(req.text, 'x', sizeof(req.text));
	req.len = -5;
	req.small = 200;
	req.far = INT64_MIN + 1;
	req.yes = true;
	req.letter = 'L';
	req.f = 1.5f;
	req.d = -2.25;
	req.state = LOST;
	req.url = "/index";
	memcpy(req.tag, "eightlet", 8);
	req.bits = 5;
	req.low = -9;
	req.wide = 0x1ffffffffUL;
	req.word = 1078530011;
	req.at.y = -7;
	req.peer.name = "peer";
	req.conn = &first;
	if (strcmp(set, "wait") == 0)
		getchar();
	if (strcmp(set, "spin") == 0) {
		members_spins(&req);
		return 0;
	}
	printf("members_plain(");
	members_print(&req, set);
	printf(") = %d;\n", members_plain(&req, 4));
	if (argc > 2) {
		members_plain(NULL, 4);
		members_plain((struct request *)(uintptr_t)0x12345000, 4);
		req.conn = NULL;
		members_plain(&req, 4);
	}
	members_result(&req);
	members_out(&count, &name, &half);
	members_stack(1, 2, 3, 4, 5, 6, &req);
#ifdef __cplusplus
	space::Box box(3), other(4);

	box.add(other);
	space::by_value(box, 6);
#endif
	fflush(stdout);
	return 0;
}
