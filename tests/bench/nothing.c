/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that does nothing: built with ktr, with its shared library, and with KTR_OFF, to see what being
 * linked with it costs at start. It has a call site, so that there is something to register.
 */
#include <ktr.h>

int main(int argc, char **argv)
{
	(void)argv;
	CTR1(KTR_GEN, "%d arguments", argc);
	return 0;
}
