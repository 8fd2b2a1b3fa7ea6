/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program is built with, for tests/abi/layout.py. */
#include <ktr.h>
#include <ktr/ctl.h>
