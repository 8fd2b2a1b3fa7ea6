/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is compiled out leaves nothing: no call, no string, no evaluated argument. KTR_COMPILE leaves
 * KTR_GEN here; with KTR_OFF everything goes.
 */
#define KTR_COMPILE KTR_GEN
#include <ktr.h>

KTR_CLASS_DEFINE(gone, "SECRET class help");

int off_effect(void);

void off_run(int n);
void off_run(int n)
{
	CTR1(KTR_NET, "SECRET format %d", off_effect());
	CTR2(KTR_LOCK, "SECRET string %d %s", n, "SECRET argument");
	CTR6(KTR_VFS | KTR_VM, "SECRET six %d %d %d %d %d %d", n, n, n, n, n, off_effect());
	KTR_STATE1(KTR_SCHED, "SECRET group", "SECRET row", "SECRET state", "SECRET attribute:%d", n);
	KTR_COUNTER0(KTR_SCHED, "SECRET counter", "SECRET row", off_effect());
	CTRSTACK(KTR_PROC, 0, 0);
	{
		KTR_SCOPE(KTR_LOCK, "SECRET scope", "SECRET shard:%d", n);
		KTR_SCOPE(KTR_LOCK, "SECRET scope too");
	}
	CTR1(KTR_GEN, "PUBLIC format %d", n);
}
