/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One configuration: its loader.conf, its workers, and a look into the session they leave behind. A
 * bench that timed events which were dropped would be a lie, so the rings must have taken exactly as
 * many as were asked for.
 */
#include "bench.h"

#include "ktr/session/session_map.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct launch {
	struct bench_shared *shared;
	const char *workers; /* directory */
	int fd;		     /* of the shared file */
	const char *session; /* name */
	char dir[256];	     /* KTR_DIR: nobody else's sessions are there */
	char conf[288];	     /* path of the loader.conf in it */
};

struct bench_shared *bench_launch_map(int *fd)
{
	struct bench_shared *shared;

	*fd = memfd_create("ktr-bench", 0);
	if (*fd < 0 || ftruncate(*fd, sizeof(*shared)) != 0)
		return NULL;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return shared == MAP_FAILED ? NULL : shared;
}

static int launch_conf(struct launch *launch)
{
	const struct bench_config *config = &launch->shared->config;
	FILE *file;

	snprintf(launch->conf, sizeof(launch->conf), "%s/loader.conf", launch->dir);
	file = fopen(launch->conf, "we");
	if (!file)
		return -1;
	fprintf(file,
		"debug.ktr.entries=\"%u\"\n"
		"debug.ktr.clock=\"%u\"\n"
		"debug.ktr.keep_session=\"1\"\n"
		"debug.ktr.mask=\"gen\"\n",
		config->entries, config->every);
	return fclose(file);
}

/* In the child: our own settings and nobody else's. */
static void launch_environment(const struct launch *launch)
{
	static const char *const others[] = {
		"KTR_MASK", "KTR_ENTRIES", "KTR_FILE", "KTR_DISABLE", "KTR_KEEP_SESSION", "KTR_PATH",
	};

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		unsetenv(others[i]);
	if (launch->shared->config.thread_path)
		setenv("KTR_PATH", "thread", 1);
	setenv("KTR_DIR", launch->dir, 1);
	setenv("KTR_SESSION", launch->session, 1);
	setenv("KTR_CONF", launch->conf, 1);
	signal(SIGINT, SIG_DFL);
}

static pid_t launch_worker(const struct launch *launch, uint32_t first)
{
	char program[4096], fd[16], number[16];
	pid_t pid;

	snprintf(program, sizeof(program), "%s/worker-%s", launch->workers,
		 launch->shared->config.so ? "so" : "exe");
	snprintf(fd, sizeof(fd), "%d", launch->fd);
	snprintf(number, sizeof(number), "%u", first);
	pid = fork();
	if (pid == 0) {
		launch_environment(launch);
		execl(program, program, fd, number, (char *)NULL);
		perror(program);
		_exit(127);
	}
	return pid;
}

/* All or none: the others would wait at the barrier for one that has failed. */
static int launch_wait(pid_t *pid, uint32_t n)
{
	int failed = 0;

	for (uint32_t left = n; left; left--) {
		int status = 0;
		pid_t ended = wait(&status);

		for (uint32_t i = 0; i < n; i++)
			if (pid[i] == ended)
				pid[i] = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		if (!failed && WIFSIGNALED(status))
			fprintf(stderr, "bench: a worker died of signal %d\n", WTERMSIG(status));
		failed = -1;
		for (uint32_t i = 0; i < n; i++)
			if (pid[i] > 0)
				kill(pid[i], SIGKILL);
	}
	return failed;
}

static int launch_run(const struct launch *launch)
{
	const struct bench_config *config = &launch->shared->config;
	pid_t pid[BENCH_WORKERS_MAX];

	for (uint32_t i = 0; i < config->n_processes; i++) {
		pid[i] = launch_worker(launch, i * config->n_threads);
		if (pid[i] < 0) {
			perror("bench: fork");
			for (uint32_t k = 0; k < i; k++)
				kill(pid[k], SIGKILL);
			launch_wait(pid, i);
			return -1;
		}
	}
	return launch_wait(pid, config->n_processes);
}

static uint64_t launch_expected(const struct bench_config *config)
{
	uint64_t n = (uint64_t)bench_n_warm(config), n_single = 0;

	for (enum bench_event event = 0; event < BENCH_EVENTS; event++) {
		if (!bench_is_measured(config, event))
			continue;
		n += (uint64_t)bench_n_events(config, event) * config->reps * bench_n_recorded(event);
		n_single += bench_n_recorded(event);
	}
	n *= bench_n_workers(config);
	n += (uint64_t)config->n_single * bench_n_tails(config) * n_single;
	return n + bench_n_cold(config);
}

/* Events in the main rings, and those that were dropped. */
static int launch_counted(const struct ktr__session_map *map, uint64_t *events, uint64_t *dropped)
{
	struct ktr_control control;
	int code = ktr__map_control(map, &control);

	*events = 0;
	*dropped = control.drop_vfork + control.drop_no_ring + control.drop_nested + control.drop_no_site +
		   control.drop_closed;
	for (uint32_t i = 0; !code && i < map->header.n_rings; i++) {
		struct ktr_ring ring;

		code = ktr__map_ring(map, i, &ring);
		if (code)
			break;
		*events += (ring.head >> 1) - ring.cont[ring.head & 1];
		*dropped += ring.dropped;
	}
	return code;
}

static int launch_verify(const struct launch *launch, const char *path)
{
	const struct bench_config *config = &launch->shared->config;
	struct ktr__session_map map;
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t expected = launch_expected(config), events = 0, dropped = 0;
	uint32_t wanted = config->thread_path ? KTR_PATH_THREAD : KTR_PATH_RSEQ;
	int code = ktr__map_open(path, KTR__MAP_OWN, &map, &err);

	if (code) {
		fprintf(stderr, "bench: %s\n", err.text);
		return -1;
	}
	code = launch_counted(&map, &events, &dropped);
	if (!code && map.header.path != wanted) {
		fprintf(stderr, "bench: no restartable sequences here\n");
		code = -1;
	} else if (code || events != expected || dropped) {
		fprintf(stderr, "bench: %s: %llu events in the rings, %llu dropped, %llu expected\n", path,
			(unsigned long long)events, (unsigned long long)dropped,
			(unsigned long long)expected);
		code = -1;
	}
	ktr__map_close(&map);
	return code;
}

/* The directory of sessions, below the one that others are in. */
static int launch_dir(struct launch *launch)
{
	const char *base = getenv("KTR_DIR");

	if ((size_t)snprintf(launch->dir, sizeof(launch->dir), "%s/ktr-bench.XXXXXX",
			     base && base[0] ? base : "/dev/shm") >= sizeof(launch->dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkdtemp(launch->dir) ? 0 : -1;
}

int bench_launch(struct bench_shared *shared, int fd, const char *workers)
{
	struct launch launch = { .shared = shared, .workers = workers, .fd = fd, .session = "bench" };
	char path[400], sessions[320];
	int code;

	shared->arrived = 0;
	if (launch_dir(&launch)) {
		perror("bench: directory of sessions");
		return -1;
	}
	snprintf(sessions, sizeof(sessions), "%s/ktr-%lu", launch.dir, (unsigned long)geteuid());
	snprintf(path, sizeof(path), "%s/%s" KTR_SESSION_SUFFIX, sessions, launch.session);
	code = launch_conf(&launch);
	if (code)
		perror(launch.conf);
	else
		code = launch_run(&launch);
	if (!code)
		code = launch_verify(&launch, path);
	unlink(path);
	rmdir(sessions);
	unlink(launch.conf);
	rmdir(launch.dir);
	return code;
}
