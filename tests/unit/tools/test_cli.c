/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ktr command as a user meets it: words, exit statuses, and a program that is run, looked at,
 * controlled, killed and swept up. Needs the command and the example indexer where make puts them,
 * beside this test's own directory.
 */
#include "tests/unit/suite.h"

#include "ktr/session/session_find.h"
#include "ktr/session/session_map.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLI_ARGS 16

/* A directory to be in, with sessions of its own; and what the last command said. */
struct cli {
	char bin[PATH_MAX];     /* the ktr command */
	char indexer[PATH_MAX]; /* the example */
	char dir[64];
	char before[PATH_MAX]; /* where we were */
	char *ktr_dir;         /* KTR_DIR as it was */
	char out[16384];       /* stdout and stderr together */
};

static struct cli *cli_make(void)
{
	struct cli *cli = calloc(1, sizeof(*cli));
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *ktr_dir = getenv("KTR_DIR");

	CU_ASSERT_PTR_NOT_NULL_FATAL(cli);
	CU_ASSERT_FATAL(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	*strrchr(self, '/') = '\0';
	CU_ASSERT_FATAL(strlen(self) < PATH_MAX - 32);
	snprintf(cli->bin, sizeof(cli->bin), "%.4000s/bin/ktr", self);
	snprintf(cli->indexer, sizeof(cli->indexer), "%.4000s/examples/indexer", self);
	CU_ASSERT_EQUAL_FATAL(access(cli->bin, X_OK), 0);
	CU_ASSERT_EQUAL_FATAL(access(cli->indexer, X_OK), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(cli->before, sizeof(cli->before)));
	strcpy(cli->dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(cli->dir));
	CU_ASSERT_EQUAL_FATAL(chdir(cli->dir), 0);
	cli->ktr_dir = ktr_dir ? strdup(ktr_dir) : NULL;
	setenv("KTR_DIR", cli->dir, 1);
	unsetenv("KTR_MASK");
	setenv("KTR_CONF", "", 1); /* no settings but those of the tests */
	return cli;
}

static int cli_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void cli_drop(struct cli *cli)
{
	CU_ASSERT_EQUAL(chdir(cli->before), 0);
	CU_ASSERT_EQUAL(nftw(cli->dir, cli_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
	if (cli->ktr_dir)
		setenv("KTR_DIR", cli->ktr_dir, 1);
	else
		unsetenv("KTR_DIR");
	unsetenv("KTR_CONF");
	free(cli->ktr_dir);
	free(cli);
}

/* Starts ktr with words separated by blanks; *out is the reading end of its output. */
static pid_t cli_start(struct cli *cli, const char *words, int *out)
{
	char copy[512], *argv[CLI_ARGS + 1], *save = NULL;
	int ends[2], n = 0;
	pid_t pid;

	snprintf(copy, sizeof(copy), "ktr %s", words);
	for (char *word = strtok_r(copy, " ", &save); word && n < CLI_ARGS;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = strcmp(word, "@indexer") == 0 ? cli->indexer : word;
	argv[n] = NULL;
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		execv(cli->bin, argv);
		_exit(125);
	}
	close(ends[1]);
	*out = ends[0];
	return pid;
}

/* Collects what it says until it has ended. Returns its exit status, or 1000 + the signal. */
static int cli_wait(struct cli *cli, pid_t pid, int out)
{
	size_t at = 0;
	int status;
	ssize_t n;

	while ((n = read(out, cli->out + at, sizeof(cli->out) - 1 - at)) > 0)
		at += (size_t)n;
	cli->out[at] = '\0';
	close(out);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int cli_run(struct cli *cli, const char *words)
{
	int out;
	pid_t pid = cli_start(cli, words, &out);

	return cli_wait(cli, pid, out);
}

static int cli_said(const struct cli *cli, const char *text)
{
	if (strstr(cli->out, text))
		return 1;
	fprintf(stderr, "expected \"%s\", got: %s\n", text, cli->out);
	return 0;
}

static void words_and_statuses(void)
{
	static const struct {
		const char *words;
		int status;
		const char *says;
	} cases[] = {
		{ "", 2, "usage: ktr COMMAND" },
		{ "--version", 0, "ktr " },
		{ "help", 0, "commands:" },
		{ "help ls", 0, "examples:\n  ktr ls" },
		{ "ls --help", 0, "examples:\n  ktr ls" },
		{ "ls -h", 0, "examples:" },
		{ "help nothing", 2, "there is no command \"nothing\"" },
		{ "rnu", 2, "did you mean `ktr run`?" },
		{ "--json", 2, "options go behind the command" },
		{ "ls --jsn", 2, "did you mean --json?" },
		{ "ls -z", 2, "there is no option -z" },
		{ "ls --json=3", 2, "--json takes no value" },
		{ "ls operand", 1, "no session is called operand" },
		{ "run", 2, "which program?" },
		{ "run -m", 2, "--mask needs a value" },
		{ "run -e many x", 2, "\"many\" is not a number" },
		{ "run -s a/b x", 2, "cannot be a session's name" },
		{ "run ./nothing", 127, "./nothing: No such file" },
		{ "run .", 126, "Permission denied" },
		{ "run true", 0, "left no trace: it is not linked with libktr" },
		{ "run false", 1, "left no trace" },
		{ "run -- sh -c exit\t7", 7, "left no trace" },
		{ "rm", 2, "name a session, or give --dead" },
		{ "rm nobody", 1, "no session is called \"nobody\"" },
		{ "rm --dead", 0, "0 sessions removed" },
		{ "ls --json", 0, "[]\n" },
		{ "sysctl", 2, "name a knob" },
		{ "sysctl -a", 1, "there is no session" },
		{ "sysctl -p 0 mask", 2, "0 is not between" },
		{ "sysctl -p 1 -s x mask", 2, "exclude each other" },
		{ "sysctl -s nobody mask", 1, "no session is called" },
	};
	struct cli *cli = cli_make();

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(cli_run(cli, cases[i].words), cases[i].status);
		CU_ASSERT(cli_said(cli, cases[i].says));
	}
	CU_ASSERT_EQUAL(cli_run(cli, "ls"), 0);
	CU_ASSERT_STRING_EQUAL(cli->out, "");
	cli_drop(cli);
}

static void a_program_is_run(void)
{
	struct cli *cli = cli_make();

	CU_ASSERT_EQUAL(mkdir("docs", 0700), 0);
	CU_ASSERT_EQUAL(cli_run(cli, "run @indexer -j 2 docs"), 0);
	CU_ASSERT(cli_said(cli, "ktr: ktr.out: "));
	CU_ASSERT(cli_said(cli, " events, 0 lost; next: ktr dump, ktr timeline\n"));
	CU_ASSERT_EQUAL(access("ktr.out/metadata", F_OK), 0);
	/* A clean exit leaves no session. */
	CU_ASSERT_EQUAL(cli_run(cli, "ls"), 0);
	CU_ASSERT_STRING_EQUAL(cli->out, "");
	/* The trace is not overwritten, and another name is told. */
	CU_ASSERT_EQUAL(rename("ktr.out", "first"), 0);
	CU_ASSERT_EQUAL(cli_run(cli, "run -m sched -e 4096 -o ./second/ @indexer docs"), 0);
	CU_ASSERT(cli_said(cli, "next: ktr dump ./second/, ktr timeline ./second/\n"));
	CU_ASSERT_EQUAL(access("second/metadata", F_OK), 0);
	CU_ASSERT_EQUAL(access("ktr.out", F_OK), -1);
	/* Classes that never happen are worth a word. */
	CU_ASSERT_EQUAL(cli_run(cli, "run -m ptrace @indexer docs"), 0);
	CU_ASSERT(cli_said(cli, "no event: nothing of mask ptrace happened"));
	/* The program's own failure is ours. */
	CU_ASSERT_EQUAL(cli_run(cli, "run @indexer nowhere"), 1);
	cli_drop(cli);
}

/*
 * Waits until the program has a live session and threads at work in it, which it starts after all
 * else. Its process id, 0 if none came in a generous while.
 */
static pid_t cli_live(void)
{
	struct ktr__session_map map;
	struct ktr_control control;
	struct ktr_proc_row proc;
	struct timespec pause = { 0, 5000000 };
	char path[PATH_MAX];
	pid_t pid = 0;

	for (unsigned i = 0; i < 24000 && !pid; i++) {
		nanosleep(&pause, NULL); /* between two looks; how long does not matter */
		if (ktr__session_find_only(path, sizeof(path), NULL) ||
		    ktr__map_open(path, 0, &map, NULL))
			continue;
		if (ktr__map_control(&map, &control) == 0 && control.n_threads > 3 &&
		    ktr__map_proc(&map, 1, &proc) == 0)
			pid = (pid_t)proc.pid;
		ktr__map_close(&map);
	}
	return pid;
}

static json_int_t json_at(const json_t *array, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(array, i), key));
}

static void check_listing(struct cli *cli, pid_t pid, const char *state)
{
	json_t *list;

	CU_ASSERT_EQUAL(cli_run(cli, "ls --json"), 0);
	list = json_loads(cli->out, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	CU_ASSERT_EQUAL_FATAL(json_array_size(list), 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(list, 0), "state")),
			       state);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(list, 0), "name")),
			       "mine");
	CU_ASSERT_EQUAL(json_integer_value(json_array_get(
				json_object_get(json_array_get(list, 0), "pids"), 0)),
			pid);
	CU_ASSERT_EQUAL(json_at(list, 0, "n_pids"), 1);
	CU_ASSERT(json_at(list, 0, "bytes") > 0);
	json_decref(list);
	CU_ASSERT_EQUAL(cli_run(cli, "ls"), 0);
	CU_ASSERT(cli_said(cli, state));
}

static void check_knobs(struct cli *cli, pid_t pid)
{
	char words[128];

	CU_ASSERT_EQUAL(cli_run(cli, "sysctl -n debug.ktr.session"), 0);
	CU_ASSERT_STRING_EQUAL(cli->out, "mine\n");
	snprintf(words, sizeof(words), "sysctl -p %d mask=net,lock debug.ktr.mask", (int)pid);
	CU_ASSERT_EQUAL(cli_run(cli, words), 0);
	CU_ASSERT_STRING_EQUAL(cli->out, "debug.ktr.mask: all -> net|lock\n"
					 "debug.ktr.mask: net|lock\n");
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl -s mine -x -e mask"), 0);
	CU_ASSERT_STRING_EQUAL(cli->out, "debug.ktr.mask=0xa\n");
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl mask=nothing"), 1);
	CU_ASSERT(cli_said(cli, "debug.ktr.mask: unknown name \"nothing\""));
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl debug.ktr.maks"), 1);
	CU_ASSERT(cli_said(cli, "the nearest is \"debug.ktr.mask\""));
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl -i nothing"), 0);
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl session=x"), 1);
	CU_ASSERT(cli_said(cli, "cannot be set at run time"));
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl -d mask"), 0);
	CU_ASSERT_STRING_EQUAL(cli->out, "debug.ktr.mask: classes that are recorded\n");
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl -aN"), 0);
	CU_ASSERT(cli_said(cli, "debug.ktr.version\n"));
}

static void a_session_is_watched_and_swept_up(void)
{
	struct cli *cli = cli_make();
	pid_t ktr, program;
	int out;

	CU_ASSERT_EQUAL(mkdir("docs", 0700), 0);
	ktr = cli_start(cli, "run -m all -s mine @indexer -n 0 docs", &out);
	program = cli_live();
	CU_ASSERT_FATAL(program > 0);
	check_listing(cli, program, "live");
	check_knobs(cli, program);
	CU_ASSERT_EQUAL(cli_run(cli, "rm mine"), 1);
	CU_ASSERT(cli_said(cli, "mine is in use"));
	CU_ASSERT_EQUAL(cli_run(cli, "rm --dead"), 0);
	CU_ASSERT(cli_said(cli, "0 sessions removed"));
	/* Killed, it leaves its session behind. */
	CU_ASSERT_EQUAL(kill(program, SIGKILL), 0);
	CU_ASSERT_EQUAL(cli_wait(cli, ktr, out), 128 + SIGKILL);
	CU_ASSERT(cli_said(cli, "; next: ktr dump, ktr timeline\n"));
	check_listing(cli, program, "dead");
	CU_ASSERT_EQUAL(cli_run(cli, "sysctl mask"), 1);
	CU_ASSERT(cli_said(cli, "there is no live session, only 1 of programs that have ended"));
	CU_ASSERT_EQUAL(cli_run(cli, "rm mine"), 0);
	CU_ASSERT_EQUAL(cli_run(cli, "ls"), 0);
	CU_ASSERT_STRING_EQUAL(cli->out, "");
	cli_drop(cli);
}

/* The indexer ends by itself, and well, when it is told to. */
static void signals_are_handed_on(void)
{
	struct cli *cli = cli_make();
	pid_t ktr;
	int out;

	CU_ASSERT_EQUAL(mkdir("docs", 0700), 0);
	ktr = cli_start(cli, "run @indexer -n 0 docs", &out);
	CU_ASSERT_FATAL(cli_live() > 0);
	CU_ASSERT_EQUAL(kill(ktr, SIGTERM), 0);
	CU_ASSERT_EQUAL(cli_wait(cli, ktr, out), 0);
	CU_ASSERT(cli_said(cli, "next: ktr dump"));
	cli_drop(cli);
}

SUITE(cli, TEST(words_and_statuses), TEST(a_program_is_run),
      TEST(a_session_is_watched_and_swept_up), TEST(signals_are_handed_on));
