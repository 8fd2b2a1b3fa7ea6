/* SPDX-License-Identifier: BSD-2-Clause */
/* The search for settings: which files, in which order, what overrides what, what is refused. */
#include "test_conf.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t a, b, c, late;

static const struct ktr_knob rows[] = {
	{ .name = "debug.ktr.a",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RWTUN,
	  .variable = &a,
	  .environment = "KTR_A" },
	{ .name = "debug.ktr.b", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RWTUN, .variable = &b },
	{ .name = "debug.ktr.c", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RWTUN, .variable = &c },
};

static const struct ktr_knob late_rows[] = {
	{ .name = "app.late",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RWTUN,
	  .variable = &late,
	  .environment = "APP_LATE" },
};

static struct ktr_origin origins[3], late_origins[1];
static struct ktr_knobs table, late_table;
static struct ktr_conf conf;
static struct ktr_source source;
static struct ktr_load load;
static struct ktr_error err;
static char directory[64], system_dir[96], home[96], config_home[96];
static char reports[4096];
static const char *variables[8]; /* pairs of name and value */

static const char *variable(const char *name)
{
	for (unsigned i = 0; variables[i]; i += 2)
		if (strcmp(variables[i], name) == 0)
			return variables[i + 1];
	return NULL;
}

static void report(void *context, const struct ktr_error *failed)
{
	char line[KTR_ERROR_LINE_BYTES];
	const char *p = ktr_error_print(failed, line, sizeof(line));

	(void)context;
	if (strncmp(p, directory, strlen(directory)) == 0)
		p += strlen(directory);
	snprintf(reports + strlen(reports), sizeof(reports) - strlen(reports), "%s\n", p);
}

static void begin_tree(void)
{
	a = b = c = late = 0;
	memset(origins, 0, sizeof(origins));
	memset(late_origins, 0, sizeof(late_origins));
	memset(&conf, 0, sizeof(conf));
	memset(variables, 0, sizeof(variables));
	table = (struct ktr_knobs){ .rows = rows, .n_rows = 3, .origins = origins };
	late_table = (struct ktr_knobs){ .rows = late_rows, .n_rows = 1, .origins = late_origins };
	CU_ASSERT_EQUAL_FATAL(ktr_conf_register(&conf, &table, NULL), 0);
}

static void begin(void)
{
	strcpy(directory, "/tmp/ktr-test-search-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
	sprintf(system_dir, "%s/etc/ktr", directory);
	sprintf(home, "%s/home", directory);
	sprintf(config_home, "%s/xdg", directory);
	begin_tree();
	source = (struct ktr_source){
		.system_dir = system_dir, .program = "prog", .home = home, .environment = variable
	};
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static void end(void)
{
	nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the test's directory and whatever directories it needs. */
static const char *put(const char *name, const char *text)
{
	static char path[256];
	FILE *f;

	sprintf(path, "%s/%s", directory, name);
	for (char *p = path + strlen(directory) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
	chmod(path, 0644);
	return path;
}

static int apply(void)
{
	int rc;

	reports[0] = '\0';
	ktr_error_clear(&err);
	load = (struct ktr_load){ .source = &source, .report = report };
	rc = ktr_conf_load(&conf, &load, &err);
	CU_ASSERT_EQUAL(rc, -err.code);
	return rc;
}

static void each_file_overrides_those_before(void)
{
	begin();
	put("etc/ktr/loader.conf", "debug.ktr.a=1\ndebug.ktr.b=1\ndebug.ktr.c=1\n");
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 100 + b * 10 + c, 111);
	CU_ASSERT_EQUAL(load.n_files, 1);
	put("etc/ktr/loader.conf.d/prog.conf", "debug.ktr.b=2\ndebug.ktr.c=2\n");
	put("etc/ktr/loader.conf.d/other.conf", "debug.ktr.b=9\n");
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 100 + b * 10 + c, 122);
	put("home/.config/ktr/loader.conf", "debug.ktr.c=3\n");
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 100 + b * 10 + c, 123);
	put("home/.config/ktr/loader.conf.d/prog.conf", "debug.ktr.c=4\n");
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 100 + b * 10 + c, 124);
	CU_ASSERT_EQUAL(load.n_files, 4);
	CU_ASSERT_EQUAL(load.n_kept, 7);
	put("xdg/ktr/loader.conf", "debug.ktr.b=5\n");
	put("xdg/ktr/loader.conf.d/prog.conf", "debug.ktr.a=6\n");
	source.config_home = config_home;
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 100 + b * 10 + c, 652);
	end();
}

static void environment_and_calls_prevail(void)
{
	struct ktr_origin origin;
	struct ktr_knob_at at;
	char line[200];

	begin();
	put("etc/ktr/loader.conf", "debug.ktr.a=1\ndebug.ktr.b=1\n");
	variables[0] = "KTR_A";
	variables[1] = "7";
	ktr_conf_set(&conf, "debug.ktr.b", "8", NULL);
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 10 + b, 78);
	CU_ASSERT_EQUAL(load.n_kept, 2);
	CU_ASSERT_EQUAL(load.n_aside, 1);
	ktr_conf_find(&conf, "debug.ktr.a", &at, NULL);
	ktr_knob_origin(&at, &origin);
	CU_ASSERT_STRING_EQUAL(ktr_origin_print(&origin, line, sizeof(line)), "environment KTR_A");
	CU_ASSERT_EQUAL(apply(), 0); /* again: the file does not undo the environment */
	CU_ASSERT_EQUAL(a * 10 + b, 78);
	variables[1] = "";
	begin_tree();
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a, 1);
	ktr_conf_find(&conf, "debug.ktr.a", &at, NULL);
	ktr_knob_origin(&at, &origin);
	ktr_origin_print(&origin, line, sizeof(line));
	CU_ASSERT_STRING_EQUAL(line + strlen(line) - 14, "/loader.conf:1");
	end();
}

static void a_named_file_replaces_the_search(void)
{
	static char path[256];

	begin();
	put("etc/ktr/loader.conf", "debug.ktr.a=1\n");
	strcpy(path, put("mine.conf", "debug.ktr.b=2\n"));
	source.conf = path;
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 10 + b, 2);
	source.conf = "";
	begin_tree();
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a * 10 + b, 0);
	CU_ASSERT_EQUAL(load.n_files, 0);
	strcat(path, ".not");
	source.conf = path;
	CU_ASSERT_EQUAL(apply(), -ENOENT);
	CU_ASSERT_STRING_EQUAL(reports,
			       "/mine.conf.not: cannot be opened: No such file or directory\n");
	end();
}

static void mistakes_name_their_place_and_the_rest_is_kept(void)
{
	begin();
	put("etc/ktr/loader.conf", "debug.ktr.a=1\n"
				   "debug.ktr.bb=2\n"
				   "debug.ktr.b=\"4 apples\"\n"
				   "debgu.ktr.b=3\n"
				   "debug.ktr.c=\"3\n"
				   "debug.kern=1\n"
				   "debug.ktr.c=\"$debug.ktr.a\"\n");
	variables[0] = "KTR_A";
	variables[1] = "x";
	CU_ASSERT_EQUAL(apply(), -ENOENT);
	CU_ASSERT_STRING_EQUAL(
		reports, "/etc/ktr/loader.conf:2:1: unknown knob \"debug.ktr.bb\", "
			 "the nearest is \"debug.ktr.b\"\n"
			 "/etc/ktr/loader.conf:3:16: debug.ktr.b: \"4 apples\" is not a number\n"
			 "/etc/ktr/loader.conf:4:1: unknown knob \"debgu.ktr.b\", "
			 "the nearest is \"debug.ktr.b\"\n"
			 "/etc/ktr/loader.conf:5:13: the closing quote is missing\n"
			 "/etc/ktr/loader.conf:6:1: unknown knob \"debug.kern\"\n"
			 "environment KTR_A: debug.ktr.a: \"x\" is not a number\n");
	CU_ASSERT_EQUAL(a * 100 + b * 10 + c, 101);
	CU_ASSERT_EQUAL(load.n_kept, 2);
	CU_ASSERT_EQUAL(load.n_refused, 6);
	end();
}

static void names_of_later_tables_are_put_aside(void)
{
	begin();
	put("etc/ktr/loader.conf", "d.x=1\n"); /* its first component begins one of ours */
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(load.n_aside, 1);
	put("etc/ktr/loader.conf", "app.late=5\ndebug.ktr.a=1\n");
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_STRING_EQUAL(reports,
			       "/etc/ktr/loader.conf:1: unknown knob \"app.late\", put aside"
			       " until the program registers it\n");
	CU_ASSERT_EQUAL(load.n_kept, 1);
	CU_ASSERT_EQUAL(load.n_aside, 1);
	CU_ASSERT_EQUAL(load.n_refused, 0);
	ktr_conf_set(&conf, "debug.ktr.a", "2", NULL);
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &late_table, NULL), 0);
	put("etc/ktr/loader.conf", "app.late=5\ndebug.ktr.a=1\nnobody.knows=1\n");
	reports[0] = '\0';
	load = (struct ktr_load){ .source = &source, .report = report, .only = &late_table };
	CU_ASSERT_EQUAL(ktr_conf_load(&conf, &load, NULL), 0);
	CU_ASSERT_STRING_EQUAL(reports, "");
	CU_ASSERT_EQUAL(load.n_kept, 1);
	CU_ASSERT_EQUAL(late, 5);
	CU_ASSERT_EQUAL(a, 2);
	variables[0] = "APP_LATE";
	variables[1] = "6";
	variables[2] = "KTR_A";
	variables[3] = "6";
	CU_ASSERT_EQUAL(ktr_conf_load(&conf, &load, NULL), 0);
	CU_ASSERT_EQUAL(late, 6);
	CU_ASSERT_EQUAL(a, 2);
	end();
}

static void files_of_the_wrong_kind(void)
{
	char path[256];

	begin();
	strcpy(path, put("etc/ktr/loader.conf/x", ""));
	put("home/.config/ktr/loader.conf", "debug.ktr.a=1\n");
	CU_ASSERT_EQUAL(apply(), -EISDIR);
	CU_ASSERT_STRING_EQUAL(reports, "/etc/ktr/loader.conf: is a directory, not a file\n");
	CU_ASSERT_EQUAL(a, 1);
	end();
	begin();
	strcpy(path, put("etc/ktr/loader.conf", "debug.ktr.a=1\n"));
	chmod(path, 0646);
	CU_ASSERT_EQUAL(apply(), -EPERM);
	CU_ASSERT_STRING_EQUAL(reports,
			       "/etc/ktr/loader.conf: is not read: everybody may write to it"
			       " (chmod o-w)\n");
	CU_ASSERT_EQUAL(a, 0);
	source.conf = path; /* whoever names a file takes it as it is */
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL(a, 1);
	end();
}

/* HOME=/root after su: somebody else's directory is no mistake; an unreadable file is one. */
static void unreadable_directories_and_files(void)
{
	uid_t uid = geteuid();
	char path[256];

	begin();
	chmod(directory, 0755);
	strcpy(path, put("home/.config/ktr/loader.conf", "debug.ktr.a=1\n"));
	chmod(path, 0);
	if (uid == 0)
		CU_ASSERT_EQUAL_FATAL(seteuid(65534), 0);
	CU_ASSERT_EQUAL(apply(), -EACCES);
	CU_ASSERT_EQUAL_FATAL(seteuid(uid), 0);
	CU_ASSERT_STRING_EQUAL(reports, "/home/.config/ktr/loader.conf: cannot be opened:"
					" Permission denied\n");
	chmod(home, 0);
	if (uid == 0)
		CU_ASSERT_EQUAL_FATAL(seteuid(65534), 0);
	CU_ASSERT_EQUAL(apply(), 0);
	CU_ASSERT_EQUAL_FATAL(seteuid(uid), 0);
	CU_ASSERT_STRING_EQUAL(reports, "");
	CU_ASSERT_EQUAL(load.n_files, 0);
	chmod(home, 0755);
	end();
}

/* The search as a list: "path state;" with the directory cut off. */
static const char *listing(void)
{
	static char text[2048];
	char path[1024];
	int rc;

	text[0] = '\0';
	for (unsigned i = 0; (rc = ktr_source_path(&source, i, path, sizeof(path))) != -ENODATA;
	     i++) {
		const char *p = path;

		if (strncmp(p, directory, strlen(directory)) == 0)
			p += strlen(directory);
		sprintf(text + strlen(text), "%s %d;", p, rc);
	}
	return text;
}

static void the_search_can_be_listed(void)
{
	begin();
	put("etc/ktr/loader.conf", "");
	put("home/.config/ktr/loader.conf.d/prog.conf/x", "");
	CU_ASSERT_STRING_EQUAL(listing(), "/etc/ktr/loader.conf 1;"
					  "/etc/ktr/loader.conf.d/prog.conf 0;"
					  "/home/.config/ktr/loader.conf 0;"
					  "/home/.config/ktr/loader.conf.d/prog.conf -21;");
	source.config_home = "relative"; /* the XDG specification has it ignored */
	source.program = "..";
	CU_ASSERT_STRING_EQUAL(listing(),
			       "/etc/ktr/loader.conf 1;/home/.config/ktr/loader.conf 0;");
	source.program = "a/b";
	source.config_home = config_home;
	CU_ASSERT_STRING_EQUAL(listing(), "/etc/ktr/loader.conf 1;/xdg/ktr/loader.conf 0;");
	source.program = NULL;
	source.config_home = NULL;
	source.home = NULL;
	CU_ASSERT_STRING_EQUAL(listing(), "/etc/ktr/loader.conf 1;");
	source.conf = "/nowhere/at.all";
	CU_ASSERT_STRING_EQUAL(listing(), "/nowhere/at.all 0;");
	source.conf = "";
	CU_ASSERT_STRING_EQUAL(listing(), "");
	end();
}

static void paths_that_are_too_long(void)
{
	static char long_home[2000];

	begin();
	memset(long_home, 'h', sizeof(long_home) - 1);
	long_home[0] = '/';
	source.home = long_home;
	put("etc/ktr/loader.conf", "debug.ktr.a=1\n");
	CU_ASSERT_EQUAL(apply(), -ENAMETOOLONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(reports, "the path is too long"));
	CU_ASSERT_EQUAL(a, 1);
	end();
}

static void one_file_alone(void)
{
	char path[256];

	begin();
	put("etc/ktr/loader.conf", "debug.ktr.a=1\n");
	strcpy(path, put("one.conf", "debug.ktr.b=2\ndebug.ktr.x=1\n"));
	variables[0] = "KTR_A";
	variables[1] = "6";
	load = (struct ktr_load){ .report = NULL };
	CU_ASSERT_EQUAL(ktr_conf_load_file(&conf, &load, path, NULL), -ENOENT);
	CU_ASSERT_EQUAL(a * 10 + b, 2);
	CU_ASSERT_EQUAL(load.n_files, 1);
	CU_ASSERT_EQUAL(load.n_refused, 1);
	end();
}

static void the_process_is_asked(void)
{
	struct ktr_source own;

	ktr_source_init(&own);
	CU_ASSERT_STRING_EQUAL(own.system_dir, "/etc/ktr");
	CU_ASSERT_STRING_EQUAL(own.program, program_invocation_short_name);
	CU_ASSERT_PTR_EQUAL(own.home, getenv("HOME"));
	CU_ASSERT_PTR_EQUAL(own.conf, getenv("KTR_CONF"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(own.environment);
	CU_ASSERT_PTR_EQUAL(own.environment("PATH"), getenv("PATH"));
}

SUITE(conf_search, TEST(each_file_overrides_those_before), TEST(environment_and_calls_prevail),
      TEST(a_named_file_replaces_the_search), TEST(mistakes_name_their_place_and_the_rest_is_kept),
      TEST(names_of_later_tables_are_put_aside), TEST(files_of_the_wrong_kind),
      TEST(unreadable_directories_and_files), TEST(the_search_can_be_listed),
      TEST(paths_that_are_too_long), TEST(one_file_alone), TEST(the_process_is_asked));
