/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program that reads traces is built with, for tests/abi/layout.py. */
#include <ktr/reader.h>
#include <ktr/trace_file.h>
