/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding sessions: what they may be called; by name, by process, the only one; whose directories. */
#include "tests/unit/suite.h"
#include "tests/unit/test_image.h"

#include "ktr/session/session_find.h"
#include "ktr/session/session_proc.h"
#include "ktr/session/session_map.h"

static void session_names(void)
{
	char longest[KTR_SESSION_NAME_MAX + 1];

	CU_ASSERT(ktr__session_name_ok("a"));
	CU_ASSERT(ktr__session_name_ok("httpd-4711.x_Y"));
	CU_ASSERT(!ktr__session_name_ok(""));
	CU_ASSERT(!ktr__session_name_ok(".hidden"));
	CU_ASSERT(!ktr__session_name_ok("a/b"));
	CU_ASSERT(!ktr__session_name_ok("a b"));
	CU_ASSERT(!ktr__session_name_ok("\xc3\xa4"));
	memset(longest, 'x', sizeof(longest));
	longest[KTR_SESSION_NAME_MAX - 1] = '\0';
	CU_ASSERT(ktr__session_name_ok(longest));
	longest[KTR_SESSION_NAME_MAX - 1] = 'x';
	longest[KTR_SESSION_NAME_MAX] = '\0';
	CU_ASSERT(!ktr__session_name_ok(longest));
}

/* A session directory of its own, in the environment while the test runs. */
struct home {
	char *before;
	char base[64];
	char dir[128];
};

static void home_make(struct home *home)
{
	const char *dir = getenv("KTR_DIR");

	home->before = dir ? strdup(dir) : NULL;
	strcpy(home->base, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(home->base));
	setenv("KTR_DIR", home->base, 1);
	CU_ASSERT_EQUAL_FATAL(ktr__session_dir(geteuid(), home->dir, sizeof(home->dir), NULL), 0);
}

static void home_add(struct home *home, const char *name, uint32_t pid, uint64_t start_time)
{
	struct image image;
	char path[256];

	image_make(&image, name);
	if (pid)
		image_process(&image, 1, pid, start_time);
	snprintf(path, sizeof(path), "%s/%s.ktr", home->dir, name);
	CU_ASSERT_EQUAL_FATAL(image_write(&image, path, image.n_bytes), 0);
	free(image.bytes);
}

static void home_drop(struct home *home, const char *const *names)
{
	char path[256];

	for (; *names; names++) {
		snprintf(path, sizeof(path), "%s/%s", home->dir, *names);
		unlink(path);
	}
	CU_ASSERT_EQUAL(rmdir(home->dir), 0);
	CU_ASSERT_EQUAL(rmdir(home->base), 0);
	if (home->before)
		setenv("KTR_DIR", home->before, 1);
	else
		unsetenv("KTR_DIR");
	free(home->before);
}

static int count_names(void *context, const char *path, const char *name)
{
	unsigned *n = context;

	(*n)++;
	return strstr(path, name) ? 0 : 1;
}

static void sessions_are_found(void)
{
	static const char *const files[] = { "live.ktr", "dead.ktr", "older.ktr", "broken.ktr",
					     ".x.ktr",   "notes",    "more.ktr",  NULL };
	uint32_t self = (uint32_t)getpid();
	uint64_t start = ktr__proc_start_time(0);
	struct ktr_error err = KTR_ERROR_NONE;
	char path[256], expected[256];
	unsigned n = 0;
	struct home home;
	void *in[2];
	int fd;

	home_make(&home);
	/* No directory: no sessions. */
	CU_ASSERT_EQUAL(ktr__session_walk(count_names, &n, &err), 0);
	CU_ASSERT_EQUAL(ktr__session_find_only(path, sizeof(path), &err), -ENOENT);
	CU_ASSERT_EQUAL(mkdir(home.dir, 0700), 0);
	home_add(&home, "dead", 0x7ffffff0, 5);
	home_add(&home, "older", 0x7ffffff0, 4);
	ktr_error_clear(&err);
	CU_ASSERT_EQUAL(ktr__session_find_only(path, sizeof(path), &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "only 2 of programs that have ended"));
	home_add(&home, "live", self, start);
	snprintf(path, sizeof(path), "%s/live.ktr", home.dir);
	in[0] = image_enter(path);
	for (unsigned i = 3; i < 6; i++) { /* neither files nor names of sessions */
		snprintf(path, sizeof(path), "%s/%s", home.dir, files[i]);
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		close(fd);
	}
	CU_ASSERT_EQUAL(ktr__session_walk(count_names, &n, NULL), 0);
	CU_ASSERT_EQUAL(n, 4);

	snprintf(expected, sizeof(expected), "%s/live.ktr", home.dir);
	CU_ASSERT_EQUAL(ktr__session_find_only(path, sizeof(path), NULL), 0);
	CU_ASSERT_STRING_EQUAL(path, expected);
	CU_ASSERT_EQUAL(ktr__session_find_pid((pid_t)self, path, sizeof(path), NULL), 0);
	CU_ASSERT_STRING_EQUAL(path, expected);
	CU_ASSERT_EQUAL(ktr__session_find_name("live", path, sizeof(path), NULL), 0);
	CU_ASSERT_STRING_EQUAL(path, expected);
	/* Of two leftovers of one pid the younger. */
	snprintf(expected, sizeof(expected), "%s/dead.ktr", home.dir);
	CU_ASSERT_EQUAL(ktr__session_find_pid(0x7ffffff0, path, sizeof(path), NULL), 0);
	CU_ASSERT_STRING_EQUAL(path, expected);

	ktr_error_clear(&err);
	CU_ASSERT_EQUAL(ktr__session_find_name("lice", path, sizeof(path), &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "live"));
	CU_ASSERT_EQUAL(ktr__session_find_name("../live", path, sizeof(path), NULL), -EINVAL);
	CU_ASSERT_EQUAL(ktr__session_find_pid(0x7ffffff1, path, sizeof(path), NULL), -ENOENT);
	CU_ASSERT_EQUAL(ktr__session_find_pid(0, path, sizeof(path), NULL), -EINVAL);
	CU_ASSERT_EQUAL(ktr__session_find_only(path, 5, NULL), -ENAMETOOLONG);
	/* Of another directory, by what the process has mapped; the path does not end with the process. */
	setenv("KTR_DIR", "/tmp/ktr-none", 1);
	CU_ASSERT_EQUAL(ktr__session_find_pid((pid_t)self, path, sizeof(path), NULL), 0);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	CU_ASSERT_NOT_EQUAL(strncmp(path, "/proc/", 6), 0);
	setenv("KTR_DIR", home.base, 1);

	home_add(&home, "more", self, start);
	snprintf(path, sizeof(path), "%s/more.ktr", home.dir);
	in[1] = image_enter(path);
	ktr_error_clear(&err);
	CU_ASSERT_EQUAL(ktr__session_find_only(path, sizeof(path), &err), -ENOTUNIQ);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "live (pid "));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "more (pid "));
	for (int i = 0; i < 2; i++)
		munmap(in[i], IMAGE_PAGE);
	home_drop(&home, files);
}

static void directories_of_others_are_not_trusted(void)
{
	static const char *const files[] = { NULL };
	struct ktr_error err = KTR_ERROR_NONE;
	struct home home;
	unsigned n = 0;
	char link_to[64];

	home_make(&home);
	CU_ASSERT_EQUAL(mkdir(home.dir, 0700), 0);
	CU_ASSERT_EQUAL(chmod(home.dir, 0770), 0);
	CU_ASSERT_EQUAL(ktr__session_walk(count_names, &n, &err), -EPERM);
	CU_ASSERT_STRING_EQUAL(err.file, home.dir);
	CU_ASSERT_EQUAL(chmod(home.dir, 0700), 0);
	CU_ASSERT_EQUAL(rmdir(home.dir), 0);
	strcpy(link_to, home.base);
	CU_ASSERT_EQUAL(symlink(link_to, home.dir), 0);
	CU_ASSERT(ktr__session_walk(count_names, &n, NULL) < 0);
	unlink(home.dir);
	CU_ASSERT_EQUAL(mkdir(home.dir, 0700), 0);
	setenv("KTR_DIR", "relative", 1);
	CU_ASSERT_EQUAL(ktr__session_walk(count_names, &n, NULL), -EINVAL);
	home_drop(&home, files);
	CU_ASSERT_EQUAL(n, 0);
}

SUITE(session_find, TEST(session_names), TEST(sessions_are_found), TEST(directories_of_others_are_not_trusted));
