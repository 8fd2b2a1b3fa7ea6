/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions as probes, fbt:MODULE:FUNCTION:entry and :return, in programs that are compiled with
 *
 *	cc $(pkg-config --variable=fbt_cflags ktr) ...		-fpatchable-function-entry=16,14 -include ktr/fbt.h
 *	cc ... $(pkg-config --libs ktr-fbt)
 *
 * and switched as all probes are: `ktr run --fbt 'parse_*'`, `ktr probe enable fbt::parse_*:`, debug.ktr.probes.
 * The compiler leaves room for 14 bytes before each function, and two at its beginning; a function costs nothing
 * while it is not asked for. See ktr_fbt(3).
 *
 * This is included before anything else in each file, so it includes nothing and defines no name but its own. A
 * program that is not linked with libktr-fbt runs as without it.
 */
#ifndef KTR_FBT_H
#define KTR_FBT_H

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(KTR_OFF) && !defined(__ASSEMBLER__)

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreserved-id-macro"
#endif

/*
 * One per executable or shared object: where its functions are listed, and the trampoline that their probes go
 * to.
 */
struct
#ifdef __cplusplus
	__attribute__((visibility("hidden")))
#endif
	ktr__fbt_module {
	__UINTPTR_TYPE__ trampoline; /* where probed functions jump to; set when the module is attached */
	void *const *begin; /* __start___patchable_function_entries: each points to the room before a function */
	void *const *end;
	unsigned long attached;
};

#ifndef KTR__LIBRARY
extern void *const __start___patchable_function_entries[] __attribute__((weak, visibility("hidden")));
extern void *const __stop___patchable_function_entries[] __attribute__((weak, visibility("hidden")));

extern struct ktr__fbt_module ktr__fbt_module __attribute__((weak, visibility("hidden")));
__attribute__((weak, visibility("hidden"), used)) struct ktr__fbt_module ktr__fbt_module = {
	0, __start___patchable_function_entries, __stop___patchable_function_entries, 0
};

/* What compilers put into functions they leave out of these. */
#define KTR__FBT_BARE patchable_function_entry(0, 0), no_instrument_function, no_profile_instrument_function

static int ktr__fbt_attach_if(struct ktr__fbt_module *module) __attribute__((weakref("ktr__fbt_attach")));
static int ktr__fbt_detach_if(struct ktr__fbt_module *module) __attribute__((weakref("ktr__fbt_detach")));

/* After classes (101), points (102) and run-time probes (103). */
__attribute__((constructor(104), KTR__FBT_BARE)) static void ktr__fbt_start(void)
{
	if (ktr__fbt_attach_if && !ktr__fbt_module.attached)
		(void)ktr__fbt_attach_if(&ktr__fbt_module);
}

__attribute__((destructor(101), KTR__FBT_BARE)) static void ktr__fbt_stop(void)
{
	if (ktr__fbt_detach_if && ktr__fbt_module.attached)
		(void)ktr__fbt_detach_if(&ktr__fbt_module);
}

#endif

#ifdef __clang__
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
#endif
