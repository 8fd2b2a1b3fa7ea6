/* SPDX-License-Identifier: BSD-2-Clause */
/* To whom a socket is connected that was there before we looked, as /proc/PID/net tells. */
#ifndef KTR_PEERS_H
#define KTR_PEERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KTR__PEERS_BYTES (1u << 20) /* of each of these files, at most: the tracee waits meanwhile */

/*
 * What the socket of an inode is called, in the network of thread tid: its peer's address and port; "listening" and
 * its own; of a local one its own path, for whose the other end is is not there. 1, or 0: not known, with nothing
 * written.
 */
int ktr__peer_name(pid_t tid, uint64_t inode, char *name, size_t size);

/* The inode that a link's text "socket:[N]" has; 0: it is none. */
uint64_t ktr__peer_inode(const char *link);

#endif
