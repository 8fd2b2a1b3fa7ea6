/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FreeBSD's numbers for Linux's, and back: a ktrace.out has FreeBSD's errors, signals, codes of signals,
 * structures, also of Linux programs that run there.
 */
#ifndef KTRACE_FREEBSD_H
#define KTRACE_FREEBSD_H

#include "writer/ktrace/layout.h"

#include <stdint.h>

/* A Linux error that FreeBSD lacks is this and its number. */
#define KTR__FREEBSD_ERRNO_OTHER 1000

#define KTR__FREEBSD_NSIG  128
#define KTR__FREEBSD_RTMIN 65
#define KTR__FREEBSD_RTMAX 126

int ktr__freebsd_errno(int linux_errno);
/* 0: Linux has none such. */
int ktr__freebsd_errno_back(int freebsd_errno);

int ktr__freebsd_signal(int linux_signal);
/* 0: Linux has none such. */
int ktr__freebsd_signal_back(int freebsd_signal);
void ktr__freebsd_mask(uint64_t linux_mask, uint32_t mask[4]);

/* INT32_MIN, which is not known, is SI_NOINFO. */
int ktr__freebsd_code(int linux_signal, int linux_code);

/* From what the kernel lays out: the length, 0 if it is nothing that FreeBSD has. */
int ktr__freebsd_stat(const void *bytes, size_t n, struct ktr__ktrace_stat *to);
int ktr__freebsd_sockaddr(const void *bytes, size_t n, struct ktr__ktrace_sockaddr *to);

#endif
