/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of each system call: a table for x86-64 and arm64, whichever of them this is compiled for.
 *
 * A letter for each argument says what it is:
 *
 *	.  a number or an address		n  the address of a path
 *	d  a directory's descriptor, or AT_FDCWD	m  a mode (of open: only with O_CREAT)
 *	s  a signal				#  a number, in decimal
 *	=  an option of the level before it
 *	all others: names and flags, of tools/bsd/kdump_args.c
 */
#ifndef KTR_CALLS_H
#define KTR_CALLS_H

#include <stdint.h>

#define KTR__CALL_ARGS 6

/* Machines whose calls are known. */
enum ktr__machine { KTR__MACHINE_NONE, KTR__MACHINE_X86_64, KTR__MACHINE_ARM64 };

/*
 * Which arguments are data: a buffer and its length in 1 and 2, an array of struct iovec and its length, a
 * msghdr.
 */
enum ktr__call_io {
	KTR__IO_NONE,
	KTR__IO_READ,
	KTR__IO_WRITE,
	KTR__IO_READV,
	KTR__IO_WRITEV,
	KTR__IO_RECVMSG,
	KTR__IO_SENDMSG
};

/* Which structure it takes or gives. */
enum ktr__call_struct {
	KTR__STRUCT_NONE,
	KTR__STRUCT_STAT1,	   /* gives a stat, argument 1 */
	KTR__STRUCT_STAT2,	   /* ... argument 2 */
	KTR__STRUCT_ADDR_IN,	   /* takes a sockaddr, argument 1, of the length 2 */
	KTR__STRUCT_ADDR_SENDTO,   /* ... argument 4, of the length 5 */
	KTR__STRUCT_ADDR_OUT,	   /* gives a sockaddr, argument 1, its length where 2 points */
	KTR__STRUCT_ADDR_RECVFROM, /* ... argument 4, its length where 5 points */
	KTR__STRUCT_ITIMER	   /* takes an itimerval, argument 1 */
};

struct ktr__call {
	const char *name;
	const char *args; /* a letter for each argument */
	int16_t number[3]; /* by enum ktr__machine; -1: not there */
	uint8_t n_args;
	uint8_t io;	/* enum ktr__call_io */
	uint8_t record; /* enum ktr__call_struct */
};

/* The call of a number; NULL: unknown. */
const struct ktr__call *ktr__call_find(enum ktr__machine machine, uint64_t number);

/*
 * What an argument is called, and what it is: '*' an address, '-' a long, '+' an unsigned long, '^' an unsigned,
 * else int.
 */
struct ktr__call_arg {
	char name[24];
	char kind;
	int is_fd; /* it is a descriptor */
};

/* Argument i of a call that has it. */
void ktr__call_arg(const struct ktr__call *call, unsigned i, struct ktr__call_arg *arg);

/* Row i of the table; NULL after the last. */
const struct ktr__call *ktr__call_row(unsigned i);

/* The machine that this is compiled for. */
enum ktr__machine ktr__machine_own(void);

#endif
