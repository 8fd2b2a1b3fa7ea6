/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a thread was off the CPU in a call is what passed on the clock less what passed of its CPU time. A call
 * that has not waited has nothing of it: no event is recorded.
 */
#include "ktr/provider/profile/off.h"

#include "ktr/provider/imports/image.h"
#include "ktr/provider/profile/stacks.h"
#include "ktr/provider/registry/fire.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <time.h>

/* [ns] Less is what the clocks cost themselves. A switch away and back takes more. */
#define OFF_LEAST_NS 1000

struct ktr_provider_probe *ktr__off_probe;

static uint64_t off_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A sandbox may end who asks the kernel for it; the clock of the time is no system call. */
static uint64_t off_cpu_ns(void)
{
	return ktr__own.sealed ? 0 : off_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void off_begins(struct ktr__off *off)
{
	int saved = errno;

	off->cpu_ns = off_cpu_ns();
	off->began_ns = off_ns(CLOCK_MONOTONIC);
	errno = saved;
}

/* What has passed since the call began. */
static struct ktr__off off_since(const struct ktr__off *off)
{
	uint64_t ns = off_ns(CLOCK_MONOTONIC) - off->began_ns, cpu_ns = off_cpu_ns();

	return (struct ktr__off){ ns, cpu_ns > off->cpu_ns ? cpu_ns - off->cpu_ns : 0 };
}

/* The clocks are read last: who reads the event knows by them when the call began, however long the stack took. */
static void off_fire(const struct ktr__off *off, const char *what, const void *stack)
{
	struct ktr__off since = off_since(off);

	KTR__FIRE4(ktr__off_probe, since.began_ns, since.cpu_ns, (uint64_t)(uintptr_t)what,
		   (uint64_t)(uintptr_t)stack);
}

static __attribute__((noinline)) void off_tell_stack(const struct ktr__off *off, const char *what,
						     const void *caller)
{
	struct ktr__frames frames;

	ktr__stacks_here(&frames, caller);
	off_fire(off, what, &frames);
}

static void off_ended(const struct ktr__off *off, const char *what, const void *caller)
{
	int saved = errno;
	struct ktr__off since = off_since(off);
	struct ktr__frame frame;

	if (since.began_ns >= since.cpu_ns + OFF_LEAST_NS && !ktr__image_has((uintptr_t)caller)) {
		if (ktr__stacks_known((uintptr_t)__builtin_frame_address(0))) {
			off_tell_stack(off, what, caller);
		} else {
			ktr__stacks_one(&frame, (uintptr_t)caller);
			off_fire(off, what, &frame);
		}
	}
	errno = saved;
}

const struct ktr__off_teller ktr__off_events = { off_begins, off_ended };
