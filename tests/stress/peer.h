/* SPDX-License-Identifier: BSD-2-Clause */
/* What a host of the peer campaign (peer_host.c) and its judge (peer.c) share besides the session. */
#ifndef PEER_H
#define PEER_H

#include <stdint.h>

struct peer_page {
	uint64_t loops; /* the host's own count, kept outside of ktr: it goes on as long as the host is well */
	uint64_t bad;	/* line of the host that found something wrong; 0: nothing */
	uint32_t ready; /* path is there */
	uint32_t stop;	/* the host is to end */
	char path[512];
};

#endif
