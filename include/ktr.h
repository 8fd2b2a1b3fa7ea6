/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr: FreeBSD's kernel tracer for any C program. This is the only line most programs need:
 *
 *	#include <ktr.h>
 *
 *	CTR2(KTR_GEN, "got %d of %s", n, name);
 *
 * Link with libktr; nothing has to be called. See ktr(3) and ktr(9).
 */
#ifndef KTR_H
#define KTR_H

#include <ktr/version.h>
#include <ktr/class.h>
#include <ktr/trace.h>
#include <ktr/event.h>

#endif
