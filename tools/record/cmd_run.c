/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr run: starts a program traced and says at the end what came of it.
 *
 * Nothing is done to the program but to its environment, which libktr reads before main(); its
 * writer thread writes the trace. Signals sent to us are handed on; those that the terminal sends
 * to the whole foreground group have reached the program already. We stop and go on with it, and
 * our exit status is its own.
 */
#include "analyze/filter/filter_spans.h"
#include "analyze/filter/trigger_make.h"
#include "analyze/types/types_open.h"
#include "conf/number.h"
#include "conf/quote.h"
#include "ktr/session/drop.h"
#include "ktr/session/session_find.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_proc.h"
#include "tools/command.h"
#include "tools/filter_option.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/record/cmd_run.h"
#include "tools/record/program.h"
#include "tools/record/run_check.h"
#include "tools/record/run_code.h"
#include "tools/record/run_environment.h"
#include "tools/ask/ask_heap.h"
#include "tools/record/run_hold.h"
#include "tools/record/run_live.h"
#include "tools/record/run_profile.h"
#include "tools/ask/ask_locks.h"
#include "tools/record/run_standby.h"
#include "tools/record/save.h"
#include "tools/record/span_watch.h"
#include "tools/record/trigger_names.h"
#include "tools/report/trace_count.h"
#include "visualize/model/label.h"
#include "writer/attach.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As sh(1) and env(1) have it. */
#define RUN_NOT_FOUND     127
#define RUN_NOT_RUN       126
#define RUN_SIGNAL_OFFSET 128

/* [bytes] The longest value of debug.ktr.alq_file. */
#define RUN_TRACE_MAX     255

/* Is there a name at the end? Without one, what would be moved aside is a directory above. */
static int run_is_named(const char *trace)
{
	size_t n = strlen(trace), length = 0;

	while (n > 0 && trace[n - 1] == '/')
		n--;
	while (length < n && trace[n - length - 1] != '/')
		length++;
	return length > 2 || (length > 0 && strncmp(trace + n - length, "..", length) != 0);
}

/* The trace's absolute path: it must not depend on where the program goes. 0 or an exit status. */
static int run_path(struct run *run)
{
	char dir[PATH_MAX];
	int n;

	if (!run_is_named(run->trace))
		return usage_error(run->command, "-o \"%s\" is not a name for a trace", run->trace);
	if (run->trace[0] == '/')
		n = snprintf(run->path, sizeof(run->path), "%s", run->trace);
	else if (!getcwd(dir, sizeof(dir)))
		return fail(run->command, "the current directory: %s", strerror(errno));
	else
		n = snprintf(run->path, sizeof(run->path), "%s/%s", dir, run->trace);
	if (n > RUN_TRACE_MAX)
		return fail(run->command, "%s: the path of a trace has %d bytes at most", run->path,
			    RUN_TRACE_MAX);
	while (n > 1 && run->path[n - 1] == '/')
		run->path[--n] = '\0';
	if (lstat(run->path, &run->before) < 0)
		memset(&run->before, 0, sizeof(run->before));
	return 0;
}

/* Compiles a trigger. The program has not started: its classes are not known, nor its call sites. */
static int run_trigger(void *at, const char *what, const char *text, char **argv)
{
	struct run_trigger *trigger = at;
	static char printed[4 * KTR_KNOB_STRING_BYTES];
	char made[KTR_KNOB_STRING_BYTES];
	struct ktr_error err = KTR_ERROR_NONE;

	trigger->text = text;
	if (ktr__filter_spans_asked(text))
		return 0;
	if (ktr__trigger_make(text, NULL, NULL, made, sizeof(made), &err)) {
		filter_complain(argv[0], what, text, &err);
		return 2;
	}
	if (ktr__print_string(made, printed, sizeof(printed)))
		return usage_error(argv[0], "%s is too long", what);
	trigger->made = printed;
	return 0;
}

/* Elsewhere what has no unit is seconds; of calls nobody means those. */
static int run_longer(void *at, const char *what, const char *text, char **argv)
{
	uint64_t *ns = at;

	if (text[strspn(text, "0123456789.")] == '\0')
		return usage_error(argv[0], "%s %s: of what unit? 10us, 1ms, 2s", what, text);
	if (ktr__parse_duration(text, ns, NULL) || !*ns)
		return usage_error(argv[0], "%s %s: not a duration such as 10us or 1ms", what, text);
	return 0;
}

/* What is said of functions is nothing without them. */
static int run_check_functions(const struct run *run)
{
	const char *without = run->args ? "--args" : run->members ? "--members" :
			      run->longer_ns != RUN_AS_IT_IS ? "--longer" :
			      run->depth != RUN_AS_IT_IS ? "--depth" : run->callers ? "--caller" : NULL;

	if (!without || run->functions)
		return 0;
	return usage_error(run->command, "%s is for functions: --fbt GLOBS", without);
}

static int run_check(struct run *run)
{
	int rc = run->entries ? run_check_entries(run->command, run->entries) : 0;

	if (!rc && run->session)
		rc = run_check_session(run->command, run->session);
	if (!rc && run->mask)
		rc = run_check_mask(run->command, run->mask, run->program[0]);
	if (!rc && run->locks && !run->agent)
		rc = usage_error(run->command, "--lock goes with --agent, which stands before the C library's locks");
	if (!rc && run->heap && !run->agent)
		rc = usage_error(run->command, "--heap goes with --agent, which stands before the C library's malloc(3)");
	if (!rc && run->children && !run->agent)
		rc = usage_error(run->command, "-i goes with --agent: children that have libktr are traced anyway");
	if (!rc && run->agent)
		rc = run_agent_find(run->command, run->program[0], run->profile || run->locks || run->heap,
				    &run->preload);
	if (!rc)
		rc = run_path(run);
	if (!rc)
		rc = run_check_output(run->command, run->trace, run->path);
	/* A session that has a name may be the one whose trace is written. */
	return rc || run->session ? rc : run_check_unwritten(run->command, run->trace, run->path);
}

/*
 * One session for the program and whatever it starts, at once or one after the other, so that one trace holds them
 * all; named as the library would have named the program's own.
 */
static const char *run_session_name(const struct run *run)
{
	static char name[KTR_SESSION_NAME_MAX];
	const char *base = strrchr(run->program[0], '/');

	snprintf(name, sizeof(name), "%.40s.%ld", base ? base + 1 : run->program[0], (long)getpid());
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '_';
	if (name[0] == '.')
		name[0] = '_';
	return name;
}

/*
 * With arguments: the program finds its types in the cache. A program that it starts may have some, or a library of
 * it, so they are asked for either way.
 */
static void run_types(const struct run *run)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];

	if ((run->args || run->members) && ktr__types_keep(run->program[0], &err))
		fprintf(stderr, "%s: no arguments are recorded: %s\n", run->command,
			ktr_error_print(&err, line, sizeof(line)));
}

/* In the child: becomes the program, or tells the parent why not. */
static void run_exec(const struct run *run, int report)
{
	int code;

	sigprocmask(SIG_SETMASK, &run->outer, NULL);
	signal(SIGPIPE, command_sigpipe); /* main() ignores them; ignored signals stay so across exec */
	signal(SIGXFSZ, command_sigxfsz);
	if (!run_environment(run))
		execvp(run->program[0], run->program);
	code = errno;
	while (write(report, &code, sizeof(code)) < 0 && errno == EINTR)
		;
	_exit(RUN_NOT_FOUND);
}

/* Starts the program. 0 or an exit status. */
static int run_start(struct run *run)
{
	int report[2], code = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) < 0)
		return fail(run->command, "no pipe: %s", strerror(errno));
	run->pid = fork();
	if (run->pid < 0)
		return fail(run->command, "no process: %s", strerror(errno));
	if (run->pid == 0)
		run_exec(run, report[1]);
	close(report[1]);
	while ((n = read(report[0], &code, sizeof(code))) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (n <= 0)
		return 0;
	waitpid(run->pid, NULL, 0);
	fail(run->command, "%s: %s", run->program[0], strerror(code));
	return code == ENOENT ? RUN_NOT_FOUND : RUN_NOT_RUN;
}

static void run_block_signals(struct run *run)
{
	static const int signals[] = { SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				       SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGTTIN,
				       SIGTTOU, SIGALRM, SIGWINCH };

	sigemptyset(&run->signals);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&run->signals, signals[i]);
	sigprocmask(SIG_BLOCK, &run->signals, &run->outer);
}

/* Looks after the program. 1 when it has ended. */
static int run_look(struct run *run)
{
	pid_t pid;

	while ((pid = waitpid(run->pid, &run->status, WNOHANG | WUNTRACED)) == run->pid) {
		if (!WIFSTOPPED(run->status))
			return 1;
		/*
		 * A shell that stopped the group shall see us stop too. Whoever wakes us wakes it.
		 */
		kill(getpid(), SIGSTOP);
		kill(run->pid, SIGCONT);
	}
	return 0;
}

static void run_wait(struct run *run)
{
	siginfo_t info;
	int sig;

	while (!run_look(run)) {
		sig = sigwaitinfo(&run->signals, &info);
		/* SI_KERNEL: from the terminal, or about us; the program has got its own. */
		if (sig > 0 && sig != SIGCHLD && info.si_code != SI_KERNEL)
			kill(run->pid, sig);
	}
}

static int run_has_trace(const struct run *run)
{
	struct stat st;

	if (lstat(run->path, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	return st.st_dev != run->before.st_dev || st.st_ino != run->before.st_ino;
}

/* Has somebody come into the session since the program was started, or is it left of another with its number? */
static int run_is_recent(const struct run *run, const char *path)
{
	struct ktr__session_map map;
	struct ktr_control control;
	struct ktr_proc_row row;
	uint32_t n = 0;
	int recent = 0;

	if (ktr__map_open(path, KTR__MAP_OWN, &map, NULL))
		return 0;
	if (!ktr__map_control(&map, &control))
		n = ktr__map_n_rows(&map, &control, KTR_REGION_proc);
	for (uint32_t i = 1; i < n && !recent; i++)
		recent = !ktr__map_proc(&map, i, &row) && row.start_ns >= run->began_ns;
	ktr__map_close(&map);
	return recent;
}

/*
 * The path of the session: of its name; or the program has one of its own, or one that it started has, and wrote
 * the trace. 1 or 0.
 */
static int run_find_session(const struct run *run, char path[PATH_MAX])
{
	return (!ktr__session_path_of(run->session, path, PATH_MAX, NULL) && run_is_recent(run, path)) ||
	       (!ktr__session_find_pid(run->pid, path, PATH_MAX, NULL) && run_is_recent(run, path)) ||
	       (run_has_trace(run) && !save_find_session(run->path, path, PATH_MAX, NULL));
}

/* The same, if nobody is in it any more. */
static int run_leftover(const struct run *run, char path[PATH_MAX])
{
	struct ktr__session_map map;
	int rc;

	if (!run_find_session(run, path) || ktr__map_open(path, KTR__MAP_OWN, &map, NULL))
		return 0;
	rc = ktr__map_alive(&map) == 0;
	ktr__map_close(&map);
	return rc;
}

static int run_find_watched(const void *context, char path[PATH_MAX])
{
	return run_find_session(context, path);
}

static int run_is_live(const struct run *run)
{
	struct run_live live;
	char path[PATH_MAX];

	return run_find_session(run, path) && run_live(path, &live);
}

/* How many traces have been rotated away since the program was started: TRACE.1, TRACE.2, ... */
static unsigned run_older(const struct run *run)
{
	char path[PATH_MAX + 16];
	struct stat st;
	unsigned n = 0;
	glob_t found;

	snprintf(path, sizeof(path), "%s.[0-9]*", run->path);
	if (glob(path, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++)
		n += stat(found.gl_pathv[i], &st) == 0 && S_ISDIR(st.st_mode) &&
		     (st.st_ctim.tv_sec > run->began.tv_sec ||
		      (st.st_ctim.tv_sec == run->began.tv_sec &&
		       st.st_ctim.tv_nsec >= run->began.tv_nsec));
	globfree(&found);
	return n;
}

/* Does the text begin with the trace's name? */
static int run_says_trace(const struct run *run, const char *text)
{
	const char *name = strrchr(run->path, '/') + 1;
	size_t n = strlen(name);

	return strncmp(text, name, n) == 0 && text[n] == ':';
}

/*
 * What a killed program's writer had not written yet is still in the rings of the session; of one that was killed
 * early, all of it; and what threads recorded while their process ended. The one place where both are at hand: they
 * are joined here, within the limits that the writers had. Returns how many events that were, if the session stays;
 * or -1 where the trace of that name is another session's.
 */
static int64_t run_join(const struct run *run)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__drain_stats stats = { 0 };
	char path[PATH_MAX];
	const char *name;
	int rc, says;

	if (!run_leftover(run, path))
		return 0;
	rc = save_left(run->path, path, run_has_trace(run), &stats, &err);
	if (rc == 0 || stats.limit)
		return access(path, F_OK) == 0 ? (int64_t)stats.events : 0;
	name = strrchr(path, '/') + 1;
	says = run_says_trace(run, err.text);
	if (stats.unwritten)
		fprintf(stderr, "ktr: %s\n", err.text);
	else
		fprintf(stderr, "ktr: %s%s%s; its last moments: ktr dump -s %.*s\n", says ? "" : run->trace, says ? "" : ": ",
			err.text, (int)(strlen(name) - strlen(KTR_SESSION_SUFFIX)), name);
	return rc == -EBUSY || rc == -ESTALE ? -1 : 0;
}

static void run_no_trace(const struct run *run)
{
	static const char *const why[] = {
		[PROGRAM_NONE] = "libktr is not in it, or said why above",
		[PROGRAM_OTHER] = "no program that it started is linked with libktr, or libktr said why above",
		[PROGRAM_FOREIGN] = "it is not linked with libktr (--agent brings it)",
		[PROGRAM_RAISED] = "it runs with raised privileges, and libktr ignores the environment then",
		[PROGRAM_LINKED] = "libktr said why above",
	};
	char path[PATH_MAX];

	fprintf(stderr, "ktr: %s left no trace: %s\n", run->program[0],
		why[program_look(run->program[0], path)]);
}

/* Why events are lost, and what helps: " (-e makes rings larger)", " (3 in a vfork child or ...)". */
static const char *run_why(const struct trace_count *count, char *text, size_t size)
{
	uint64_t n_placed = count->lost - ktr__dropped_sum(count->dropped);
	const char *before = " (";
	size_t at = 0;

	text[0] = '\0';
	if (n_placed && n_placed == count->lost) {
		at += (size_t)snprintf(text, size, "%s-e makes rings larger", before);
	} else if (n_placed) {
		at += (size_t)snprintf(text, size, "%s%llu overwritten: -e makes rings larger", before,
				       (unsigned long long)n_placed);
		before = "; ";
	}
	for (unsigned i = 0; i < KTR_DROPS && at < size; i++)
		if (count->dropped[i]) {
			at += (size_t)snprintf(text + at, size - at, "%s%llu %s", before,
					       (unsigned long long)count->dropped[i], ktr__drop_text(i));
			before = "; ";
		}
	if (at && at + 1 < size)
		strcpy(text + at, ")");
	return text;
}

/* The last line: what there is now, and what to do with it. */
static void run_summary(const struct run *run)
{
	char dump[4 * RUN_TRACE_MAX + 32] = "ktr dump", timeline[sizeof(dump)] = "ktr timeline";
	char joined[96] = "", older[64] = "";
	char path[PATH_MAX], goes_on[NAME_MAX + 128] = "", why[512];
	struct run_live live;
	/* Before the trace is looked at: it is whole if nobody is left then. */
	int rc, alive = run_find_session(run, path) && run_live(path, &live);
	int64_t n_joined = run_join(run);
	struct trace_count count;
	unsigned n_older;

	if (n_joined < 0)
		return;
	if (!run_has_trace(run)) {
		run_no_trace(run);
		return;
	}
	rc = trace_count(run->path, &count);
	if (rc) {
		fprintf(stderr, "ktr: %s: %s\n", run->trace, strerror(-rc));
		return;
	}
	if (run->profile) {
		strcpy(dump, "ktr report --profile");
		strcpy(timeline, "ktr flame");
	}
	if (strcmp(run->trace, FIND_TRACE) != 0) {
		ktr__label_word(dump, sizeof(dump), run->trace);
		ktr__label_word(timeline, sizeof(timeline), run->trace);
	}
	n_older = run_older(run);
	if (n_older)
		snprintf(older, sizeof(older), ", not counting %u older part%s", n_older,
			 n_older == 1 ? "" : "s");
	if (n_joined)
		snprintf(joined, sizeof(joined), " (%llu out of the session that the program left)",
			 (unsigned long long)n_joined);
	if (alive)
		run_live_text(&live, goes_on, sizeof(goes_on));
	if (!alive && !count.events && !count.lost && !n_older && run->profile) {
		fprintf(stderr, "ktr: %s: no sample: it used no CPU time of its own, or the programs that it started did (-i)\n",
			run->trace);
		return;
	}
	if (!alive && !count.events && !count.lost && !n_older) {
		fprintf(stderr, "ktr: %s: no event: nothing of mask %s happened\n", run->trace,
			run->mask ? run->mask : getenv("KTR_MASK") ? getenv("KTR_MASK") : "all");
		return;
	}
	fprintf(stderr, "ktr: %s: %llu event%s%s%s, %llu lost%s%s%s; next: %s, %s\n", run->trace,
		(unsigned long long)count.events, count.events == 1 ? "" : "s", alive ? " so far" : "", joined,
		(unsigned long long)count.lost, run_why(&count, why, sizeof(why)), older, goes_on, dump, timeline);
	if (run->profile && !alive && !n_older)
		run_profile_say(run);
}

static const struct option_row run_rows[] = {
	OPTION_TEXT('m', "mask", "MASK", struct run, mask, "classes to record: sched|lock, or all,-malloc (default: all)"),
	OPTION_TEXT('o', "output", "TRACE", struct run, trace, "the trace; an older one moves aside (default: ktr.out)"),
	OPTION_TEXT('e', "entries", "N", struct run, entries, "size of each CPU's ring [events]; larger ones lose less"),
	OPTION_TEXT('s', "session", "NAME", struct run, session, "the session's name; programs that share one share a trace"),
	OPTION_FLAG('k', "kernel", struct run, kernel, "context switches and page faults of its threads, too"),
	OPTION_FLAG(0, "agent", struct run, agent, "of a program that is not linked with libktr, too"),
	OPTION_FLAG('i', "inherit", struct run, children, "with --agent: and of the programs that it starts"),
	OPTION_TEXT(0, "probe", "GLOBS", struct run, probes,
		    "run-time probes that are on from the start: 'ipc_*,custom.depth'"),
	OPTION_TEXT(0, "fbt", "GLOBS", struct run, functions,
		    "functions of a program built for it, or with --agent of any: 'parse_*,*_open'"),
	OPTION_TAKE(0, "longer", "DURATION", struct run, longer_ns, run_longer,
		    "of these functions only calls that took 10us, 1ms"),
	OPTION_NUMBER(0, "depth", "N", struct run, depth, 1, 1u << 30, "only calls at most so deep among them"),
	OPTION_TEXT(0, "caller", "GLOBS", struct run, callers, "only calls within those of functions: 'parse_file'"),
	OPTION_FLAG(0, "args", struct run, args, "their arguments and results, too, where the program has types (-g)"),
	OPTION_TEXT(0, "members", "PATHS", struct run, members,
		    "members of structs that arguments, or results, point to: 'req->len,result->state'"),
	OPTION_TEXT(0, "usdt", "PROBES", struct run, statics,
		    "with --agent: static probes that it and its libraries have: 'python,libstdcxx:throw'"),
	OPTION_TAKE(0, "lock", "KINDS", struct run, locks, ask_locks_take,
		    "with --agent: who waits for locks (contention), who has them (hold), errors, signals, inversions, stacks, all"),
	OPTION_TAKE(0, "heap", "WHAT", struct run, heap, ask_heap_take,
		    "with --agent: who gets memory and gives it back: all with stacks, callers, one block in 512k bytes"),
	OPTION_TAKE(0, "trigger", "EXPR", struct run, trigger, run_trigger,
		    "the rings stop when it holds: 'class == net and n > 9'; the session stays"),
	OPTION_NUMBER(0, "after", "N", struct run, after, 0, 1ull << 40, "events that each ring takes after that (0)"),
	OPTIONS_ROTATE(struct run, rotate),
};

static const struct options run_options = {
	.operands = "[--] PROGRAM [ARGUMENTS]",
	.about =
		"Runs a program that is linked with libktr, or has the agent, and writes its events to a trace. Without\n"
		"-m, KTR_MASK in the environment counts. The exit status is the program's.",
	.examples = "ktr run ./indexer /usr/share/doc\n"
		    "ktr run -m 'sched|lock' -o lock.out -- ./indexer -v\n"
		    "ktr run -k ./indexer            and when its threads were off the CPU\n"
		    "ktr run --agent -k xz -T2 file  the same of a program that knows nothing of ktr\n",
	OPTIONS_ROWS(run_rows),
	.stop = 1,
};

/* Waits for the program, and meanwhile looks for long spans, if a trigger wants them. 1: it held, or may have. */
static int run_attend(struct run *run)
{
	struct span_watch watch = { .command = run->command,
				    .text = run->trigger.text,
				    .after = run->after == RUN_AS_IT_IS ? 0 : run->after,
				    .find = run_find_watched,
				    .context = run };
	int watches = run->trigger.text && !run->trigger.made;

	if (watches)
		span_watch_begin(&watch);
	run_wait(run);
	return watches && span_watch_end(&watch);
}

/* What has become of a trigger that is not known to have held. */
static void run_trigger_end(const struct run *run)
{
	if (run->trigger.text && run_has_trace(run) &&
	    trigger_names_end(run->command, "--trigger", run->trigger.text, run->path) && !run->trigger.made)
		fail(run->command, "--trigger: it held, but was not seen in time: too much was lost in the rings");
}

int run_program(struct run *run, char **program)
{
	struct run_standby standby;
	struct run_hold hold;
	int rc, held = 0;

	run->program = program;
	if (!*program)
		return usage_error(run->command, "which program?");
	clock_gettime(CLOCK_REALTIME_COARSE, &run->began); /* the clock of file systems */
	rc = run_check(run);
	if (rc)
		return rc;
	rc = run_check_functions(run);
	if (rc)
		return rc;
	if (run->statics && !run->agent)
		return usage_error(run->command, "--usdt is for programs that have the agent: --agent");
	if (!run->session)
		run->session = run_session_name(run);
	run_types(run);
	run_block_signals(run);
	run->began_ns = ktr__drain_now();
	run_hold_begin(&hold, run->session);
	run_standby_begin(&standby, run->path, &run->before, &hold);
	rc = run_start(run);
	/* The hold keeps the session for a last look at what its rings have. */
	if (!rc)
		held = run_attend(run);
	run_hold_end(&hold);
	if (rc) {
		run_standby_end(&standby, 0);
		return rc;
	}
	run_standby_end(&standby, run_is_live(run));
	if (run->agent && run_has_trace(run))
		run_code_keep(run->command, run->path);
	run_summary(run);
	if (!run->children && !run->profile && run_has_trace(run))
		run_agent_say(&run->preload, run->program[0]);
	if (!held)
		run_trigger_end(run);
	if (WIFSIGNALED(run->status))
		return RUN_SIGNAL_OFFSET + WTERMSIG(run->status);
	return WEXITSTATUS(run->status);
}

static int cmd_run(int argc, char **argv)
{
	struct run run = RUN_OPTIONS(argv[0]);
	int rc;

	if (!options_parse(&run_options, argc, argv, &run, &rc))
		return rc;
	return run_program(&run, argv + optind);
}

COMMAND(run, "run a program and record its events", cmd_run);
