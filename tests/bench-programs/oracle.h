/* SPDX-License-Identifier: BSD-2-Clause */
/* The points of tests/foreign as they are, counted by nobody: they are measured. */
#ifndef ORACLE_H
#define ORACLE_H

#define COUNTED(...)	   do { __VA_ARGS__; } while (0)
#define COUNTED_SCOPE(...) __VA_ARGS__

#endif
