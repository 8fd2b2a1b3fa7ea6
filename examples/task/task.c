/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another process, looked at from outside by libktr-task: what its threads do, where they are, and, for so many
 * seconds, how often each was found in which place.
 *
 *	build/examples/task $(pidof -s nginx) 5
 */
#include <ktr/task.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int complain(const struct ktr_error *err)
{
	char line[KTR_ERROR_LINE_BYTES];

	fprintf(stderr, "%s\n", ktr_error_print(err, line, sizeof(line)));
	return 1;
}

static int list(pid_t pid)
{
	struct ktr_error err = KTR_ERROR_NONE;
	pid_t *tid;
	uint32_t n;

	if (ktr_task_threads(pid, &tid, &n, &err))
		return complain(&err);
	for (uint32_t i = 0; i < n; i++) {
		struct ktr_thread_info info = { .size = sizeof(info) };

		if (ktr_thread_info(pid, tid[i], &info, NULL) == 0)
			printf("%d %s: %c, %" PRIu64 " ms, CPU %d\n", (int)tid[i], info.name, info.state,
			       (info.user_ns + info.system_ns) / 1000000, (int)info.cpu);
	}
	free(tid);
	return 0;
}

/* One whole buffer: 1, or 0 at the end. */
static int read_buffer(int fd, struct ktr_sample_buffer *buffer)
{
	size_t n = 0, want = sizeof(*buffer);
	ssize_t got;

	while (n < want && (got = read(fd, (char *)buffer + n, want - n)) > 0) {
		n += (size_t)got;
		if (n < sizeof(*buffer))
			continue;
		if (buffer->n_bytes > KTR_SAMPLE_BUFFER_MAX)
			return 0;
		want = buffer->n_bytes;
	}
	return n == want;
}

static void print_buffer(const struct ktr_sample_buffer *buffer)
{
	const struct ktr_sample_stack *one = NULL;

	while ((one = ktr_sample_next(buffer, buffer->n_bytes, one, NULL)) != NULL)
		if (one->n_frames)
			printf("%d %c 0x%" PRIx64 "\n", (int)one->tid, one->state, ktr_sample_frames(one)[0]);
}

int main(int argc, char **argv)
{
	static uint64_t room[KTR_SAMPLE_BUFFER_MAX / sizeof(uint64_t)];
	struct ktr_sample_buffer *buffer = (struct ktr_sample_buffer *)room;
	struct ktr_sample_sums sums = { .size = sizeof(sums) };
	struct ktr_error err = KTR_ERROR_NONE;
	pid_t pid = argc > 1 ? (pid_t)atoi(argv[1]) : 0;
	uint64_t rounds = argc > 2 ? 10 * (uint64_t)atoi(argv[2]) : 0;
	int fd[2], is_last = 0;

	if (list(pid))
		return 1;
	if (!rounds)
		return 0;
	if (pipe(fd) || ktr_sample_task(pid, 10, fd[1], &err))
		return complain(&err);
	while (!is_last && read_buffer(fd[0], buffer)) {
		print_buffer(buffer);
		is_last = buffer->is_last || buffer->n_rounds + buffer->n_missed >= rounds;
	}
	ktr_sample_stop(fd[1], &sums, NULL);
	fprintf(stderr, "%" PRIu64 " samples, %" PRIu64 " lost, %" PRIu64 " stops\n", sums.n_samples, sums.n_lost,
		sums.n_stops);
	return 0;
}
