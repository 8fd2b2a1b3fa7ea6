/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything that a program names has what moves a cursor or turns text around; for tests/cli/show/hidden.sh. */
#include <ktr.h>
#include <pthread.h>

#define EVIL "a\033[31m\177b\302\233c\342\200\256d\342\201\246e\302\205f"

int main(void)
{
	pthread_setname_np(pthread_self(), "t\177\302\233\342\200\256\033[m");
	CTR1(KTR_NET, "text " EVIL " %s", EVIL);
	KTR_STATE0(KTR_GEN, "group" EVIL, "id" EVIL, EVIL);
	KTR_STATE0(KTR_GEN, "group" EVIL, "id" EVIL, "=" EVIL);
	KTR_START0(KTR_GEN, "span", EVIL, 1);
	KTR_STOP0(KTR_GEN, "span", EVIL, 1);
	KTR_COUNTER0(KTR_GEN, "count", EVIL, 1);
	KTR_POINT0(KTR_GEN, "point", EVIL, EVIL);
	CTR2(KTR_NET, "%s %d", "=cmd|' /C calc'!A0", -7);
	CTR1(KTR_NET, "%s", "+1");
	CTR1(KTR_NET, "%s", "-2+3");
	CTR1(KTR_NET, "%s", "@SUM(1)");
	CTR1(KTR_NET, "%s", "-7");
	CTR1(KTR_NET, "%g", -0.5);
	return 0;
}
