/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who feeds a session's kernel rings: one at a time. Who holds the lock, a byte of the session's file, is it;
 * ktr_control.feeder has its number for those who want to know whether there is one, and decides nothing, for
 * numbers are those of pid namespaces, and are given anew.
 */
#ifndef WRITER_FEEDER_H
#define WRITER_FEEDER_H

struct ktr__session_rw;
/* The lock, which ends with the process, and which its children do not get; NULL: it cannot be had. */
char *ktr__feeder_claim(struct ktr__session_rw *session);
void ktr__feeder_release(struct ktr__session_rw *session, char *lock); /* of ktr__feeder_claim(); accepts NULL */

#endif
