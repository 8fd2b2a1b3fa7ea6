/* SPDX-License-Identifier: BSD-2-Clause */
/* A class that another file declares; see classes.c. */
#include <ktr.h>

KTR_CLASS_DEFINE(away, "defined in another file");
