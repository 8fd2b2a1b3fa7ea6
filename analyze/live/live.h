/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that runs, looked at from outside: what calls a thread is in, from its registers and a copy of its
 * stack, and names for addresses. Nothing here stops it.
 */
#ifndef ANALYZE_LIVE_H
#define ANALYZE_LIVE_H

#include "analyze/live/live_maps.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define KTR__LIVE_FRAMES 512	      /* of a stack; deeper ones are cut */
#define KTR__LIVE_STACK	 (512u << 10) /* [bytes] of a stack that are looked at */
#define KTR__LIVE_NAME	 1024	      /* [bytes] with its NUL; longer names are cut */

struct ktr__live;

/* As the process is now. Owned; 0, or -errno with *out NULL. */
int ktr__live_open(pid_t pid, struct ktr__live **out);
void ktr__live_close(struct ktr__live *live);

/* Reads now what unwinding would read of each object when it comes by there first, which takes its time. */
void ktr__live_warm(struct ktr__live *live);

/* Borrowed; as it was when it was opened. */
const struct ktr__live_maps *ktr__live_maps(const struct ktr__live *live);

/* A thread as it was when it stood still. */
struct ktr__live_thread {
	pid_t tid;
	struct user_regs_struct regs;
	uint64_t base;	   /* of the copy, its stack pointer */
	const void *bytes; /* borrowed */
	size_t n_bytes;
};

struct ktr__live_frame {
	uint64_t pc;
	int is_return; /* it is behind a call, and belongs to the function that the call stands in */
};

/*
 * Its frames, the innermost first: how many. *why is NULL where they go to the thread's first function, else says
 * why there are no more (no allocation).
 */
unsigned ktr__live_frames(struct ktr__live *live, const struct ktr__live_thread *thread,
			  struct ktr__live_frame frame[KTR__LIVE_FRAMES], const char **why);

struct ktr__live_name {
	char symbol[KTR__LIVE_NAME]; /* demangled; "": none is known */
	uint64_t offset;	     /* behind its beginning */
	const char *object;	     /* its file's name without folders; NULL: in no object. Borrowed */
	uint64_t object_offset;	     /* as addr2line(1) takes it */
	const char *file;	     /* of its source; NULL: not known. Borrowed */
	int line;
};

void ktr__live_name(struct ktr__live *live, uint64_t address, int is_return, struct ktr__live_name *name);

/* A file of code that the process has: as a trace names it. */
struct ktr__live_image {
	const char *path;   /* borrowed; as the process has it */
	uint64_t base, end; /* base is added to the file's own addresses */
	uint8_t id[64];	    /* its build-id, or what stands for it: ktr__elf_file_id() */
	size_t n_id;
};

/* Of an object of ktr__live_maps(), by its place there: 1, or 0: it is no such file, or cannot be read. */
int ktr__live_image(struct ktr__live *live, uint32_t object, struct ktr__live_image *image);

/* Its registers that all machines have. */
uint64_t ktr__live_pc(const struct user_regs_struct *regs);
uint64_t ktr__live_sp(const struct user_regs_struct *regs);
uint64_t ktr__live_fp(const struct user_regs_struct *regs);

#endif
