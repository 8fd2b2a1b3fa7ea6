/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the functions of a loaded object begin and end: what it has for unwinders. */
#ifndef KTR_PLAIN_FRAMES_H
#define KTR_PLAIN_FRAMES_H

#include "ktr/record/module.h"

#include <stdint.h>

struct ktr__plain_frame {
	uintptr_t start;
	uint32_t n_bytes;
	bool is_odd; /* at its start the return address is not the last on the stack: none that is called */
};

struct ktr__plain_frames {
	struct ktr__plain_frame *at; /* by address; owned */
	uint32_t n;
	uintptr_t begin, end; /* of the text that they are in, one segment */
	uintptr_t entry; /* of the program: not called either. 0: it has none */
};

/* Within the loader's walk, so that the object stays. 0 or -errno: -ENOEXEC, it has no such table. */
int ktr__plain_frames_read(const struct ktr__object *object, struct ktr__plain_frames *frames);

#endif
