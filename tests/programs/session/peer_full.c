/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host whose session lies in a file system that is full, and where a peer has stored numbers that lead to rows
 * and counts that nobody has made: peer_full CASE. A touch of what is not there would be a SIGBUS.
 */
#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/session.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ktr_header header;
static char *map;

static char *region(enum ktr_region_id id)
{
	return map + header.region[id].offset;
}

static void fill(void)
{
	char path[600];
	static char zeros[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/filler", getenv("KTR_DIR"));
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	while (write(fd, zeros, sizeof(zeros)) == (ssize_t)sizeof(zeros))
		;
	close(fd);
}

static void *in_thread(void *arg)
{
	CTR0(KTR_GEN, "in a thread");
	return arg;
}

int main(int argc, char **argv)
{
	int fd = open(ktr_session_path(), O_RDWR);
	struct ktr_control *control;
	struct ktr_trigger *trigger;
	struct ktr_site_row *row;
	char value[KTR_VALUE_BYTES];
	pthread_t thread;

	if (argc != 2 || fd < 0 || pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return 2;
	map = mmap(NULL, header.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 2;
	control = (struct ktr_control *)(void *)region(KTR_REGION_control);
	trigger = (struct ktr_trigger *)(void *)region(KTR_REGION_trigger);
	row = (struct ktr_site_row *)(void *)region(KTR_REGION_site);
	CTR0(KTR_GEN, "before");
	fill();
	if (strcmp(argv[1], "count") == 0) {
		memset(region(KTR_REGION_site_ctl) + 1, KTR_SITE_COUNT, 64);
		control->special = ~0ull;
		for (int i = 0; i < 1000; i++)
			CTR0(KTR_GEN, "counted");
	} else if (strcmp(argv[1], "rows") == 0) {
		control->n_sites = header.region[KTR_REGION_site].n_rows;
		ktr_get("debug.ktr.compile", value, sizeof(value), NULL);
		ktr_set("debug.ktr.sites", "+main", NULL);
		ktr_set("debug.ktr.trigger", "", NULL);
		ktr_get("debug.ktr.trigger_sites", value, sizeof(value), NULL);
	} else if (strcmp(argv[1], "threads") == 0) {
		control->feeder = 1;
		control->n_threads = header.region[KTR_REGION_thread].n_rows;
		if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
			pthread_join(thread, NULL);
	} else if (strcmp(argv[1], "modules") == 0) {
		int status = -1;
		pid_t pid;

		memset(region(KTR_REGION_module), 0, 4096);
		control->n_modules = header.region[KTR_REGION_module].n_rows;
		pid = fork();
		CTR0(KTR_GEN, "behind a fork");
		if (!pid)
			_exit(0);
		if (waitpid(pid, &status, 0) != pid || status)
			return 3;
	} else if (strcmp(argv[1], "feed") == 0) {
		control->n_procs = header.region[KTR_REGION_proc].n_rows;
		control->n_threads = header.region[KTR_REGION_thread].n_rows;
		control->n_sites = header.region[KTR_REGION_site].n_rows;
		for (int i = 0; i < 6; i++) {
			control->kernel = i & 1 ? 0 : KTR_KERNEL_SWITCH | KTR_KERNEL_FAULT;
			ktr_flush();
			if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
				pthread_join(thread, NULL);
		}
	} else if (strcmp(argv[1], "strings") == 0) {
		control->frozen = KTR_FROZEN_YES;
		trigger->why = KTR_FROZE_TRIGGER;
		trigger->site = 1;
		row[1].file = (uint32_t)header.region[KTR_REGION_string].bytes - 100000;
		ktr_get("debug.ktr.frozen_by", value, sizeof(value), NULL);
		trigger->site = control->n_sites = header.region[KTR_REGION_site].n_rows;
		trigger->site--;
		ktr_get("debug.ktr.frozen_by", value, sizeof(value), NULL);
	}
	printf("well\n");
	return 0;
}
