/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One cell of the matrix: a host's life, a path of recording, and who takes the events.
 *
 *	cell KTR HOST HOST_OFF DIR LIFE PATH TAKER
 *
 * KTR: the command; HOST: the host, HOST_OFF: the same without ktr in it (-DKTR_OFF); DIR: an empty directory of
 * the cell's own, below which sessions may lie; PATH: rseq or thread; TAKER:
 *
 *	off	nobody, KTR_DISABLE=1
 *	rings	nobody: the session is read when all have ended
 *	writer	the host's own thread, KTR_FILE
 *	run	`ktr run`
 *	record	`ktr record` from outside
 *
 * First the host lives without ktr, then traced. Its output, its wait status and how long it and its descendants
 * lived are compared, then its events are held against the oracle. Prints its faults; 0: none, or
 * the host cannot live so here even untraced, 1: some.
 */
#include "launch.h"
#include "look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CELL_LIMIT_NS (60000000000ull * cell_slack) /* ends what hangs: no life takes a hundredth of it untraced */
#define CELL_SLACK_NS (1000000000ull * cell_slack) /* traced ones may take that much more, and */
#define CELL_FACTOR   5u	    /* so many times as long */
#define CELL_TRIES    10	    /* lives of one that took too long: a busy machine is no fault */

static const char *cell_ktr, *cell_life, *cell_path, *cell_taker;
static const char *cell_host[2]; /* with ktr, without */
static char cell_dir[512];
static unsigned cell_slack = 1; /* STRANGERS_SLACK: on a machine that is so many times as slow */
static struct look cell_look;

/* One life: what it left. */
struct life {
	struct launch launch;
	struct launch record;
	struct oracle *oracle;
	char dir[600]; /* out, err, file, oracle, gate, record, root/, shm/, trace/ */
	unsigned text_bytes[3];
	char text[3][65536];
};

static struct life cell_untraced, cell_traced;

static void cell_die(const char *what)
{
	printf("    %s: %s\n", what, strerror(errno));
	exit(2);
}

/* A file or directory of the life's; never freed, as a cell has few. */
static const char *life_path(const struct life *life, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", life->dir, name) < 0)
		abort();
	return path;
}

static void life_prepare(struct life *life, const char *name, int try)
{
	int fd;

	memset(&life->launch, 0, sizeof(life->launch));
	memset(&life->record, 0, sizeof(life->record));
	snprintf(life->dir, sizeof(life->dir), "%s/%s.%d", cell_dir, name, try);
	if (mkdir(life->dir, 0755) || mkdir(life_path(life, "root"), 0755) || mkdir(life_path(life, "shm"), 0700))
		cell_die(life->dir);
	fd = open(life_path(life, "oracle"), O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*life->oracle)))
		cell_die("oracle");
	life->oracle = mmap(NULL, sizeof(*life->oracle), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (life->oracle == MAP_FAILED)
		cell_die("oracle");
	close(fd);
	life->launch.out = life_path(life, "out");
	life->launch.err = life_path(life, "err");
	setenv("STRANGERS_ORACLE", life_path(life, "oracle"), 1);
	setenv("STRANGERS_ROOT", life_path(life, "root"), 1);
	setenv("STRANGERS_FILE", life_path(life, "file"), 1);
	setenv("KTR_DIR", life_path(life, "shm"), 1);
}

static bool life_is(const char *taker)
{
	return strcmp(cell_taker, taker) == 0;
}

static void life_environment(const struct life *life)
{
	setenv("KTR_CONF", "", 1);
	setenv("KTR_MASK", "all", 1);
	setenv("KTR_ENTRIES", "4096", 1);
	/* Those from outside find what they find without it. */
	if (!life_is("run") && !life_is("record"))
		setenv("KTR_KEEP_SESSION", "1", 1);
	if (strcmp(cell_path, "thread") == 0)
		setenv("KTR_PATH", "thread", 1);
	if (life_is("off"))
		setenv("KTR_DISABLE", "1", 1);
	if (life_is("writer"))
		setenv("KTR_FILE", life_path(life, "trace"), 1);
	/* What it executes joins it, as under ktr run; otherwise that has a session of its own. */
	if (life_is("writer") || life_is("record"))
		setenv("KTR_SESSION", "cell", 1);
	if (life_is("record")) {
		if (mkfifo(life_path(life, "gate"), 0600))
			cell_die("gate");
		setenv("STRANGERS_GATE", life_path(life, "gate"), 1);
	}
}

/* `ktr record` begins when the host has a session; the host goes on when that has a trace. */
static void life_record(struct life *life)
{
	const char *argv[] = { cell_ktr, "record", "-s", "cell", "-o", life_path(life, "trace"), NULL };
	const char *metadata = life_path(life, "trace/metadata"), *path = life_path(life, "gate");
	uint64_t until = launch_now() + CELL_LIMIT_NS;
	int gate;

	while ((gate = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && launch_now() < until)
		launch_nap();
	unsetenv("STRANGERS_GATE");
	life->record.argv = argv;
	life->record.out = life->record.err = life_path(life, "record");
	launch_start(&life->record);
	while (access(metadata, F_OK) && launch_now() < until)
		launch_nap();
	if (gate < 0 || access(metadata, F_OK))
		look_fault(&cell_look, "ktr record did not begin");
	life->launch.begun_ns = launch_now();
	if (gate >= 0)
		close(gate);
}

static void life_live(struct life *life, bool traced)
{
	const char *const alone[] = { cell_host[!traced], cell_life, NULL };
	const char *const run[] = { cell_ktr, "run", "-o", life_path(life, "trace"), "--",
				    cell_host[0], cell_life, NULL };

	life->launch.argv = traced && life_is("run") ? run : alone;
	if (traced)
		life_environment(life);
	launch_start(&life->launch);
	if (traced && life_is("record"))
		life_record(life);
	launch_wait(&life->launch, life->record.pid ? &life->record : NULL, CELL_LIMIT_NS);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "out", "err", "file" };
		int fd = open(life_path(life, names[i]), O_RDONLY);
		ssize_t n = fd < 0 ? 0 : read(fd, life->text[i], sizeof(life->text[i]) - 1);

		life->text[i][n < 0 ? 0 : n] = '\0';
		if (fd >= 0)
			close(fd);
	}
}

static const char *cell_status(int status)
{
	static char text[2][40];
	static unsigned next;
	char *words = text[next++ % 2];

	if (WIFSIGNALED(status))
		snprintf(words, sizeof(text[0]), "died by signal %d", WTERMSIG(status));
	else
		snprintf(words, sizeof(text[0]), "exited with %d", WEXITSTATUS(status));
	return words;
}

/* The untraced life's wait status as ktr run hands it on, like a shell. Whether a core was written is no matter. */
static int cell_expected(void)
{
	int status = cell_untraced.launch.status;

	if (WIFSIGNALED(status))
		return life_is("run") ? (128 + WTERMSIG(status)) << 8 : WTERMSIG(status);
	return status;
}

static bool cell_slow(void)
{
	const struct launch *a = &cell_untraced.launch, *b = &cell_traced.launch;

	return b->own_ns > CELL_FACTOR * a->own_ns + CELL_SLACK_NS ||
	       b->all_ns > CELL_FACTOR * a->all_ns + CELL_SLACK_NS;
}

/* Lines that begin with "ktr: " are ktr run's, and left out. */
static void cell_strip(char *text)
{
	char *to = text;

	while (*text) {
		size_t n = strcspn(text, "\n");

		n += text[n] == '\n';
		if (strncmp(text, "ktr: ", 5) != 0) {
			memmove(to, text, n);
			to += n;
		}
		text += n;
	}
	*to = '\0';
}

/* Its last line tells of as many lost events as the trace does, which look_end() has held against the oracle. */
static void cell_run_line(void)
{
	char lost[40];

	snprintf(lost, sizeof(lost), ", %llu lost", (unsigned long long)cell_look.lost);
	if (!strstr(cell_traced.text[1], " event") || !strstr(cell_traced.text[1], lost))
		look_fault(&cell_look, "ktr run says: %.300s", cell_traced.text[1]);
}

static void cell_compare_output(void)
{
	static const char *const names[] = { "its output", "its standard error", "a file" };

	if (life_is("run"))
		cell_strip(cell_traced.text[1]);
	for (int i = 0; i < 3; i++)
		if (strcmp(cell_untraced.text[i], cell_traced.text[i]) != 0)
			look_fault(&cell_look, "%s differs: %.300s", names[i], cell_traced.text[i]);
}

/* The host lived the same life. */
static void cell_compare_life(void)
{
	const struct oracle *a = cell_untraced.oracle, *b = cell_traced.oracle;
	uint64_t n[2] = { 0, 0 };
	int status = cell_traced.launch.status;

	if (b->failed)
		look_fault(&cell_look, "line %u failed, which does not untraced", b->failed);
	for (uint32_t i = 0; i < a->n_rows; i++)
		n[0] += a->row[i].done;
	for (uint32_t i = 0; i < b->n_rows; i++)
		n[1] += b->row[i].done;
	if (n[0] != n[1] || a->n_rows != b->n_rows)
		look_fault(&cell_look, "%llu events in %u rows untraced, %llu in %u traced",
			   (unsigned long long)n[0], a->n_rows, (unsigned long long)n[1], b->n_rows);
	if (WIFSIGNALED(status))
		status = WTERMSIG(status);
	if (status != cell_expected())
		look_fault(&cell_look, "it %s instead of: %s", cell_status(status), cell_status(cell_expected()));
	if (cell_untraced.launch.n_killed)
		look_fault(&cell_look, "the host did not end untraced");
	if (cell_traced.launch.n_killed)
		look_fault(&cell_look, "%u processes had not ended after %llu s", cell_traced.launch.n_killed,
			   CELL_LIMIT_NS / 1000000000u);
	else if (cell_slow())
		look_fault(&cell_look, "it took %llu ms, its descendants %llu; untraced %llu and %llu",
			   (unsigned long long)cell_traced.launch.own_ns / 1000000,
			   (unsigned long long)cell_traced.launch.all_ns / 1000000,
			   (unsigned long long)cell_untraced.launch.own_ns / 1000000,
			   (unsigned long long)cell_untraced.launch.all_ns / 1000000);
	if (life_is("record") && cell_traced.record.status)
		look_fault(&cell_look, "ktr record %s", cell_status(cell_traced.record.status));
	cell_compare_output();
}

/* All sessions that the life has left. Returns how many. */
static unsigned cell_sessions(void (*visit)(const char *path))
{
	char dir[700], path[1000];
	struct dirent *entry;
	unsigned n = 0;
	DIR *stream;

	snprintf(dir, sizeof(dir), "%s/shm/ktr-%u", cell_traced.dir, (unsigned)geteuid());
	stream = opendir(dir);
	while (stream && (entry = readdir(stream)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		visit(path);
		n++;
	}
	if (stream)
		closedir(stream);
	return n;
}

static void cell_read(const char *path)
{
	look_read(&cell_look, path);
}

static void cell_look_at(void)
{
	struct stat st;
	unsigned n;

	look_begin(&cell_look, cell_traced.oracle, cell_ktr);
	n = cell_sessions(cell_read);
	if (life_is("off")) {
		if (n)
			look_fault(&cell_look, "%u sessions of a program that is not traced", n);
		return;
	}
	if (life_is("rings") || life_is("writer"))
		look_end(&cell_look, "session");
	if (life_is("rings"))
		return;
	if (n && cell_traced.oracle->clean && !life_is("writer"))
		look_fault(&cell_look, "%u sessions are left by those that ended cleanly", n);
	look_begin(&cell_look, cell_traced.oracle, cell_ktr);
	if (stat(life_path(&cell_traced, "trace"), &st))
		look_fault(&cell_look, "there is no trace");
	else
		look_read(&cell_look, life_path(&cell_traced, "trace"));
	look_end(&cell_look, "trace");
	if (life_is("run"))
		cell_run_line();
}

int main(int argc, char **argv)
{
	if (argc != 8)
		return 2;
	cell_ktr = argv[1];
	cell_host[0] = argv[2];
	cell_host[1] = argv[3];
	snprintf(cell_dir, sizeof(cell_dir), "%s", argv[4]);
	cell_life = argv[5];
	cell_path = argv[6];
	cell_taker = argv[7];
	if (getenv("STRANGERS_SLACK"))
		cell_slack = (unsigned)atoi(getenv("STRANGERS_SLACK"));
	setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* one piece, as others print at the same time */
	signal(SIGPIPE, SIG_IGN);
	for (int try = 0; try < CELL_TRIES; try++) {
		life_prepare(&cell_untraced, "untraced", try);
		life_live(&cell_untraced, false);
		if (cell_untraced.oracle->failed) { /* without root's rights, or a kernel's help */
			printf("skipped: %s, %s, %s: it cannot live so here (line %u)\n", cell_life, cell_path,
			       cell_taker, cell_untraced.oracle->failed);
			return 0;
		}
		life_prepare(&cell_traced, "traced", try);
		life_live(&cell_traced, true);
		if (cell_traced.launch.n_killed || !cell_slow())
			break;
	}
	cell_look_at(); /* before what ktr run has said is taken out of the output */
	cell_compare_life();
	if (cell_look.n_faults)
		printf("FAILED: %s, %s, %s: %u faults\n", cell_life, cell_path, cell_taker, cell_look.n_faults);
	return cell_look.n_faults != 0;
}
