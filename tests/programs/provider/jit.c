/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that is made as the program runs, in memory of no file: jit HOW, where HOW says who tells its name: "map",
 * perf's map; "dump", a jitdump in the current directory; "none", nobody. Half a second of CPU time goes into it.
 * "map" makes an older function at the same place known, too.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov %edi, %ecx; 1: dec %ecx; jne 1b; ret */
static const uint8_t code[] = { 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };

static void map(const void *at)
{
	char path[64];
	FILE *to;

	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)getpid());
	to = fopen(path, "w");
	if (!to)
		exit(1);
	fprintf(to, "%lx 1000 older than it\n", (unsigned long)at);
	fprintf(to, "%lx %zx made at run time; in map\n", (unsigned long)at, sizeof(code));
	fclose(to);
}

static void dump(const void *at)
{
	static const char name[] = "made at run time, in dump";
	struct {
		uint32_t magic, version, total_size, machine, pad, pid;
		uint64_t timestamp, flags;
	} header = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0 };
	struct {
		uint32_t id, total_size;
		uint64_t timestamp;
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
	} load = { 0, 56 + sizeof(name) + sizeof(code), 1, (uint32_t)getpid(), (uint32_t)getpid(),
		   (uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)at, sizeof(code), 1 };
	char path[64];
	FILE *to;

	snprintf(path, sizeof(path), "jit-%ld.dump", (long)getpid());
	to = fopen(path, "w+");
	if (!to)
		exit(1);
	fwrite(&header, sizeof(header), 1, to);
	fflush(to);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(to), 0) == MAP_FAILED)
		exit(1);
	fwrite(&load, sizeof(load), 1, to);
	fwrite(name, sizeof(name), 1, to);
	fwrite(code, sizeof(code), 1, to);
	/* A record that is not whole. */
	fwrite(&load, 20, 1, to);
	fclose(to);
}

int main(int argc, char **argv)
{
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec now;

	if (at == MAP_FAILED || argc != 2)
		return 1;
	memcpy(at, code, sizeof(code));
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	if (strcmp(argv[1], "map") == 0)
		map(at);
	else if (strcmp(argv[1], "dump") == 0)
		dump(at);
	do {
		((void (*)(unsigned))(uintptr_t)at)(1000000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec == 0 && now.tv_nsec < 500000000);
	return 0;
}
