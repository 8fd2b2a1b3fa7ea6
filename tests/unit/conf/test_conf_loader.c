/* SPDX-License-Identifier: BSD-2-Clause */
/* loader.conf: the grammar, places of errors, files of every wrong kind, round trips. */
#include "test_conf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What came out: "name=value;" for each setting, "file:line:column: text\n" for each error. */
static char settings[8192], errors[8192];
static char last_value[KTR_LOADER_LINE_BYTES];
static unsigned n_reports;

static int take(struct ktr_loader *loader, const char *name, const char *value,
		struct ktr_error *err)
{
	const char *bad = strchr(value, '!');

	(void)loader;
	if (bad) /* a value that is wrong at its '!' */
		return ktr_error_at(err, NULL, 0, (unsigned)(bad - value) + 1, EINVAL, "exclaimed");
	if (strcmp(name, "refused") == 0)
		return -EPERM;
	if (strcmp(name, "later") == 0)
		return 1;
	strcpy(last_value, value);
	if (strlen(settings) + strlen(name) + strlen(value) + 3 < sizeof(settings))
		sprintf(settings + strlen(settings), "%s=%s;", name, value);
	return 0;
}

static int expand(struct ktr_loader *loader, const char *name, char *buffer, size_t size,
		  struct ktr_error *err)
{
	(void)loader;
	if (strcmp(name, "long") == 0) {
		if (size < 4000)
			return -ENOSPC;
		memset(buffer, 'l', 3999);
		buffer[3999] = '\0';
		return 0;
	}
	if (strcmp(name, "home") != 0)
		return ktr_error_set(err, ENOENT, "unknown knob \"%s\"", name);
	snprintf(buffer, size, "/h");
	return 0;
}

static void report(struct ktr_loader *loader, const struct ktr_error *err)
{
	char line[KTR_ERROR_LINE_BYTES];

	(void)loader;
	n_reports++;
	ktr_error_print(err, line, sizeof(line));
	if (strlen(errors) + strlen(line) + 2 < sizeof(errors))
		sprintf(errors + strlen(errors), "%s\n", line);
}

static struct ktr_loader loader;

static void begin(void)
{
	settings[0] = errors[0] = '\0';
	n_reports = 0;
	loader = (struct ktr_loader){ .set = take, .expand = expand, .report = report };
}

static int read_text(const char *text, size_t length)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char *copy = malloc(length + 1), line[KTR_ERROR_LINE_BYTES];
	int rc;

	memcpy(copy, text, length); /* of exact size, for the address sanitizer to guard */
	copy = realloc(copy, length ? length : 1);
	begin();
	rc = ktr_loader_text(&loader, "f", copy, length, &err);
	free(copy);
	CU_ASSERT_EQUAL(rc, -err.code);
	CU_ASSERT_EQUAL(!rc, !errors[0]);
	if (rc) { /* the first error is the one handed back */
		ktr_error_print(&err, line, sizeof(line));
		CU_ASSERT_NSTRING_EQUAL(errors, line, strlen(line));
	}
	return rc;
}

static void expect(const char *text, const char *wanted_settings, const char *wanted_errors)
{
	read_text(text, strlen(text));
	if (strcmp(settings, wanted_settings) || strcmp(errors, wanted_errors))
		fprintf(stderr, "%s\ngives: %s\n%s\n", text, settings, errors);
	CU_ASSERT_STRING_EQUAL(settings, wanted_settings);
	CU_ASSERT_STRING_EQUAL(errors, wanted_errors);
}

static void good_files(void)
{
	expect("", "", "");
	expect("\n\n  \t\n", "", "");
	expect("# only\n  # comments = \"no\"\n", "", "");
	expect("debug.ktr.mask=\"sched|lock\"\n", "debug.ktr.mask=sched|lock;", "");
	expect("a=\"1\"", "a=1;", "");
	expect("  a =\t\"1\"  # why\nb=2#c\nc=3 # d", "a=1;b=2;c=3;", "");
	expect("a=\"1\"\r\nb=2\r\n\r\n", "a=1;b=2;", "");
	expect("\xef\xbb\xbf"
	       "a=1\n",
	       "a=1;", "");
	expect("a=YES\nb=-5\nc=/tmp/x.out\nd=0-3,8:2\ne=50%\nf=u@h+1\n",
	       "a=YES;b=-5;c=/tmp/x.out;d=0-3,8:2;e=50%;f=u@h+1;", "");
	expect("a=\"\"\n", "a=;", "");
	expect("a=\" # = x \"\n", "a= # = x ;", "");
	expect("a_b-c.d9=\"\xc3\xa9\"\n", "a_b-c.d9=\xc3\xa9;", "");
	expect("a=\"tab\there\"\n", "a=tab\there;", "");
}

static void backslashes(void)
{
	expect("a=\"q\\\"q\"\n", "a=q\"q;", "");
	expect("a=\"b\\\\s\"\n", "a=b\\s;", "");
	expect("a=\"b\\n\\$\\x\"\n", "a=bn$x;", "");
	expect("a=\"end\\\\\" # \"x\"\n", "a=end\\;", "");
	expect("a=\"x\" # say \"hi\"\n", "a=x;", "");
}

static void dollars(void)
{
	expect("a=\"$home/x\"\n", "a=/h/x;", "");
	expect("a=\"<${home}>\"\n", "a=</h>;", "");
	expect("a=\"$home$home\"\n", "a=/h/h;", "");
	expect("a=\"\\$home\"\n", "a=$home;", "");
	expect("a=\"1 $nohome\"\n", "", "f:1:6: unknown knob \"nohome\"\n");
	expect("a=\"${home\"\n", "", "f:1:4: the '}' of ${name} is missing\n");
	expect("a=\"5$\"\n", "",
	       "f:1:5: '$' stands for a knob's value here; for the character"
	       " itself write \\$\n");
	expect("a=\"$$\"\n", "",
	       "f:1:4: '$' stands for a knob's value here; for the character"
	       " itself write \\$\n");
	CU_ASSERT_EQUAL(read_text("a=\"$long\"\n", 10), 0);
	CU_ASSERT_EQUAL(strlen(last_value), 3999);
	expect("a=\"$long$long\"\n", "", "f:1:9: \"long\" has no value\n");
	begin();
	loader.expand = NULL;
	CU_ASSERT_EQUAL(ktr_loader_text(&loader, "f", "a=\"$home\"", 9, NULL), -EINVAL);
}

static void syntax_errors(void)
{
	expect("a=\"1\n", "", "f:1:3: the closing quote is missing\n");
	expect("a=\"1\\\"\n", "", "f:1:3: the closing quote is missing\n");
	expect("a=\"1\\", "", "f:1:3: the closing quote is missing\n");
	expect("a=\"", "", "f:1:3: the closing quote is missing\n");
	expect("\n  a\n", "", "f:2:4: a '=' is expected here\n");
	expect("a b=1\n", "", "f:1:3: a '=' is expected here\n");
	expect("=1\n", "", "f:1:1: a name beginning with a letter is expected here\n");
	expect("9a=1\n", "", "f:1:1: a name beginning with a letter is expected here\n");
	expect("\"a\"=1\n", "", "f:1:1: a name beginning with a letter is expected here\n");
	expect("a=\n", "", "f:1:3: a value is missing (an empty one is \"\")\n");
	expect("a=  # x\n", "", "f:1:5: a value is missing (an empty one is \"\")\n");
	expect("a=1 2\n", "", "f:1:5: nothing but a comment may follow the value\n");
	expect("a=\"1\"2\n", "", "f:1:6: nothing but a comment may follow the value\n");
	expect("a=\"1\" b=\"2\"\n", "", "f:1:7: nothing but a comment may follow the value\n");
	expect("a=x|y\n", "", "f:1:4: this must stand between double quotes: NAME=\"VALUE\"\n");
	expect("a='x'\n", "", "f:1:3: this must stand between double quotes: NAME=\"VALUE\"\n");
	expect("a=$b\n", "", "f:1:3: this must stand between double quotes: NAME=\"VALUE\"\n");
	expect("a=\"\033[2J\"\n", "", "f:1:4: a control byte cannot be part of a setting\n");
	expect("a=1\rb=2\n", "", "f:1:4: a control byte cannot be part of a setting\n");
	expect("# \x7f\n", "", "f:1:3: a control byte cannot be part of a setting\n");
}

static void good_lines_around_bad_ones_count(void)
{
	expect("a=1\nb\nc=3\nd=\"\ne=5", "a=1;c=3;e=5;",
	       "f:2:2: a '=' is expected here\nf:4:3: the closing quote is missing\n");
	CU_ASSERT_EQUAL(loader.n_kept, 3);
	CU_ASSERT_EQUAL(loader.n_refused, 2);
	expect("later=1\nrefused=2\nc=3\n", "c=3;", "f:2:1: the setting is refused\n");
	CU_ASSERT_EQUAL(loader.n_kept, 1);
	CU_ASSERT_EQUAL(loader.n_aside, 1);
	CU_ASSERT_EQUAL(loader.n_refused, 1);
}

/* A column within the value becomes one of the line, over escapes and expansions. */
static void columns_within_values(void)
{
	expect("a = \"xy!\"\n", "", "f:1:8: exclaimed\n");
	expect("a = \"\\x\\y!\"\n", "", "f:1:10: exclaimed\n");
	expect("a=\"\\!\"\n", "", "f:1:4: exclaimed\n");
	expect("a=\"$home!\"\n", "", "f:1:9: exclaimed\n");
	expect("\n\n a=\"!\"\n", "", "f:3:5: exclaimed\n");
}

static void too_long(void)
{
	static char text[3 * KTR_LOADER_LINE_BYTES];
	char *p = text;

	p += sprintf(p, "a=1\nb=\"");
	memset(p, 'x', KTR_LOADER_LINE_BYTES - 5);
	p += KTR_LOADER_LINE_BYTES - 5;
	p += sprintf(p, "\"\nc=3\n"); /* 4095 bytes, the longest */
	read_text(text, (size_t)(p - text));
	CU_ASSERT_EQUAL(loader.n_kept, 3);
	p = text;
	p += sprintf(p, "a=1\nb=\"");
	memset(p, 'x', KTR_LOADER_LINE_BYTES - 4);
	p += KTR_LOADER_LINE_BYTES - 4;
	p += sprintf(p, "\"\nc=3\n");
	read_text(text, (size_t)(p - text));
	CU_ASSERT_STRING_EQUAL(settings, "a=1;c=3;");
	CU_ASSERT_STRING_EQUAL(errors, "f:2:1: the line is too long, 4095 bytes are allowed\n");
	memset(text, 'n', 200);
	strcpy(text + 128, "=1\n");
	expect(text, "", "f:1:1: the name is too long\n");
	text[127] = '=';
	text[128] = '1';
	read_text(text, 129);
	CU_ASSERT_EQUAL(loader.n_kept, 1);
}

static void binary_content(void)
{
	static const char text[] = "a=1\nb=2\nc=\0x\n";

	CU_ASSERT_EQUAL(read_text(text, sizeof(text) - 1), -EINVAL);
	CU_ASSERT_STRING_EQUAL(settings, "");
	CU_ASSERT_STRING_EQUAL(errors, "f:3:3: this is a binary file, not settings; nothing is read"
				       " from here on\n");
}

/* ---- files ---- */

static char directory[64], path[96];

static const char *begin_file(const char *content, size_t length)
{
	int fd;

	begin();
	strcpy(directory, "/tmp/ktr-test-loader-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
	sprintf(path, "%s/loader.conf", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(write(fd, content, length), (ssize_t)length);
	close(fd);
	return path;
}

static void end_file(void)
{
	unlink(path);
	rmdir(path);
	rmdir(directory);
}

static void files_are_read(void)
{
	static const char text[] = "a=1\n# c\nb=\"2\"\nc=3";

	CU_ASSERT_EQUAL(ktr_loader_file(&loader, begin_file(text, sizeof(text) - 1), NULL), 0);
	CU_ASSERT_STRING_EQUAL(settings, "a=1;b=2;c=3;");
	end_file();
	CU_ASSERT_EQUAL(ktr_loader_file(&loader, begin_file("", 0), NULL), 0);
	CU_ASSERT_STRING_EQUAL(settings, "");
	end_file();
	CU_ASSERT_EQUAL(ktr_loader_file(&loader, begin_file("\xef\xbb\xbf", 3), NULL), 0);
	end_file();
	begin_file("\xef\xbb\xbf\xef\xbb\xbf", 6); /* one mark, not two */
	CU_ASSERT_EQUAL(ktr_loader_file(&loader, path, NULL), -EINVAL);
	end_file();
	begin();
	CU_ASSERT_EQUAL(ktr_loader_file(&loader, "/dev/null", NULL), 0);
}

/* Files and texts give the same, wherever the pieces of a file happen to end. */
static void files_and_texts_agree(void)
{
	static char text[40000], from_text[8192], from_text_errors[8192];
	uint64_t state = 8;

	for (unsigned i = 0; i < 60; i++) {
		size_t length = 0, limit = random_next(&state) % 20000 + 1;
		struct ktr_error err = KTR_ERROR_NONE;
		int rc;

		while (length < limit) {
			unsigned shape = random_next(&state) % 40;

			if (shape == 0) {
				memset(text + length, 'x', 5000);
				length += random_next(&state) % 5000;
			} else if (shape == 1 && i % 8 == 0) {
				text[length++] = '\0';
			} else {
				length += (size_t)sprintf(
					text + length, shape % 4 ? "a%u=\"%u\"\n" : "b%u \"%u\"\n",
					shape, (unsigned)random_next(&state));
			}
		}
		begin_file(text, length);
		ktr_loader_text(&loader, path, text, length, NULL);
		strcpy(from_text, settings);
		strcpy(from_text_errors, errors);
		begin();
		rc = ktr_loader_file(&loader, path, &err);
		CU_ASSERT_EQUAL(rc, -err.code);
		CU_ASSERT_EQUAL(!rc, !errors[0]);
		if (!memchr(text, 0, length)) {
			CU_ASSERT_STRING_EQUAL(settings, from_text);
			CU_ASSERT_STRING_EQUAL(errors, from_text_errors);
		}
		end_file();
	}
}

/* Reads path and expects one error about the file as a whole, and no settings. */
static void expect_file_error(const char *file, int rc, const char *says)
{
	struct ktr_error err = KTR_ERROR_NONE;

	CU_ASSERT_EQUAL(ktr_loader_file(&loader, file, &err), rc);
	CU_ASSERT_EQUAL(err.code, -rc);
	CU_ASSERT_STRING_EQUAL(err.file, file);
	CU_ASSERT_TRUE(error_says(&err, says));
	CU_ASSERT_EQUAL(n_reports, 1);
	CU_ASSERT_STRING_EQUAL(settings, "");
}

static void wrong_kinds_of_file(void)
{
	begin_file("a=1\n", 4);
	unlink(path);
	expect_file_error(path, -ENOENT, "cannot be opened: No such file or directory");
	begin();
	expect_file_error(directory, -EISDIR, "is a directory, not a file");
	begin();
	mkfifo(path, 0644);
	expect_file_error(path, -EINVAL, "is not a regular file");
	end_file();
	begin();
	expect_file_error("/dev/zero", -EINVAL, "is not a regular file");
	begin();
	expect_file_error("/proc/self/mem", -EIO, "cannot be read: Input/output error");
	begin_file("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
	expect_file_error(path, -EINVAL, "this is a binary file");
	end_file();
}

static void a_huge_file_is_not_read(void)
{
	begin_file("a=1\n", 4);
	CU_ASSERT_EQUAL(truncate(path, 1 << 30), 0);
	expect_file_error(path, -EFBIG, "is too large: 1073741824 bytes, 1048576 are allowed");
	end_file();
}

static void the_greatest_file_is_read(void)
{
	static char text[KTR_LOADER_FILE_BYTES + 1];

	memset(text, '\n', sizeof(text));
	memcpy(text + KTR_LOADER_FILE_BYTES - 4, "\na=1", 4);
	CU_ASSERT_EQUAL(ktr_loader_file(&loader, begin_file(text, sizeof(text) - 1), NULL), 0);
	CU_ASSERT_STRING_EQUAL(settings, "a=1;");
	end_file();
	CU_ASSERT_EQUAL(ktr_loader_file(&loader, begin_file(text, sizeof(text)), NULL), -EFBIG);
	end_file();
}

/* A file that says it is empty and is not: the list of mappings, made longer than a mebibyte. */
static void a_file_that_grows_is_cut_off(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n_pages = 40000;
	char *area = mmap(NULL, n_pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ktr_error err = KTR_ERROR_NONE;

	CU_ASSERT_FATAL(area != MAP_FAILED);
	for (size_t i = 0; i < n_pages; i += 2)
		CU_ASSERT_EQUAL_FATAL(mprotect(area + i * page, page, PROT_READ), 0);
	begin();
	CU_ASSERT_TRUE(ktr_loader_file(&loader, "/proc/thread-self/maps", &err) < 0);
	munmap(area, n_pages * page);
	CU_ASSERT_TRUE(loader.n_refused > 1000);
	CU_ASSERT_EQUAL(loader.n_kept, 0);
	CU_ASSERT_EQUAL(n_reports, loader.n_refused + 1);
}

static void an_unreadable_file(void)
{
	uid_t uid = geteuid();

	begin_file("a=1\n", 4);
	chmod(path, 0);
	chmod(directory, 0755);
	if (uid == 0)
		CU_ASSERT_EQUAL_FATAL(seteuid(65534), 0);
	expect_file_error(path, -EACCES, "cannot be opened: Permission denied");
	CU_ASSERT_EQUAL_FATAL(seteuid(uid), 0);
	end_file();
}

/* The sample as it is installed says nothing; with its settings uncommented all of them parse. */
static void the_sample_is_valid(void)
{
	static char sample[16384];
	char name[256] = __FILE__, *slash = strrchr(name, '/');
	FILE *f;

	strcpy(slash ? slash + 1 : name, "../../../conf/loader.conf.sample");
	begin();
	CU_ASSERT_EQUAL(ktr_loader_file(&loader, name, NULL), 0);
	CU_ASSERT_STRING_EQUAL(settings, "");
	f = fopen(name, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_TRUE(fread(sample, 1, sizeof(sample) - 1, f) > 1000);
	fclose(f);
	for (char *p = sample; (p = strstr(p, "\n#debug."));)
		memcpy(p, "\n ", 2);
	CU_ASSERT_EQUAL(ktr_loader_text(&loader, name, sample, strlen(sample), NULL), 0);
	CU_ASSERT_TRUE(loader.n_kept >= 9);
	CU_ASSERT_PTR_NOT_NULL(strstr(settings, "debug.ktr.mask=sched|lock;"));
}

/* ---- writing ---- */

static void settings_are_written(void)
{
	char line[64];

	CU_ASSERT_EQUAL(ktr_loader_print("debug.ktr.mask", "a|b", line, sizeof(line)), 0);
	CU_ASSERT_STRING_EQUAL(line, "debug.ktr.mask=\"a|b\"");
	CU_ASSERT_EQUAL(ktr_loader_print("a", "$x\"\\", line, sizeof(line)), 0);
	CU_ASSERT_STRING_EQUAL(line, "a=\"\\$x\\\"\\\\\"");
	CU_ASSERT_EQUAL(ktr_loader_print("a", "x\n", line, sizeof(line)), -EINVAL);
	CU_ASSERT_EQUAL(ktr_loader_print("a b", "x", line, sizeof(line)), -EINVAL);
	CU_ASSERT_EQUAL(ktr_loader_print("", "x", line, sizeof(line)), -EINVAL);
	CU_ASSERT_EQUAL(ktr_loader_print("a", "xyz", line, 8), -ENOSPC);
	CU_ASSERT_EQUAL(ktr_loader_print("abcdefgh", "", line, 4), -ENOSPC);
	CU_ASSERT_EQUAL(ktr_loader_print("abc", "", line, 7), 0);
	CU_ASSERT_STRING_EQUAL(line, "abc=\"\"");
}

static void written_settings_read_back(void)
{
	uint64_t state = 9;
	char value[40], line[128];

	begin();
	for (unsigned i = 0; i < 50000; i++) {
		size_t length = random_next(&state) % 39;

		for (size_t j = 0; j < length; j++) {
			value[j] = (char)(random_next(&state) % 96 + 32);
			if (value[j] == 0x7f)
				value[j] = '\xff';
			if (i & 1)
				value[j] = "\"\\$ #={}\tx"[random_next(&state) % 10];
		}
		value[length] = '\0';
		if (strchr(value, '!'))
			continue;
		CU_ASSERT_FATAL(ktr_loader_print("n.a-me_1", value, line, sizeof(line)) == 0);
		CU_ASSERT_FATAL(ktr_loader_text(&loader, "f", line, strlen(line), NULL) == 0);
		CU_ASSERT_FATAL(strcmp(last_value, value) == 0);
	}
}

SUITE(conf_loader, TEST(good_files), TEST(backslashes), TEST(dollars), TEST(syntax_errors),
      TEST(good_lines_around_bad_ones_count), TEST(columns_within_values), TEST(too_long),
      TEST(binary_content), TEST(files_are_read), TEST(files_and_texts_agree),
      TEST(wrong_kinds_of_file), TEST(a_huge_file_is_not_read), TEST(the_greatest_file_is_read),
      TEST(a_file_that_grows_is_cut_off), TEST(an_unreadable_file), TEST(the_sample_is_valid),
      TEST(settings_are_written), TEST(written_settings_read_back));
