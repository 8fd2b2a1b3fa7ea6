/* SPDX-License-Identifier: BSD-2-Clause */
/* A histogram as gmon.out, which gprof(1) reads. */
#ifndef KTR_PROFIL_GMON_FILE_H
#define KTR_PROFIL_GMON_FILE_H

#include <stddef.h>
#include <stdint.h>

struct ktr__gmon_file {
	uint64_t low, high; /* addresses as in the program's file */
	uint32_t hz;
	const uint32_t *counter; /* one for each 2 bytes */
};

/*
 * Writes gmon.out in the current folder, or PREFIX.PID, of GMON_OUT_PREFIX, in GNU's form. A counter of more than
 * 16 bits goes on in another histogram of the same range, which gprof adds up. 0 or -errno.
 */
int ktr__gmon_file_write(const struct ktr__gmon_file *gmon);

#endif
