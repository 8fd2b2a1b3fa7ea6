/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed: how a project of one's own takes ktr in, with make, CMake or Meson: copy the lines you need. Each of
 * the three files knows both ways: an installed libktr through pkg-config, or ktr.c and ktr.h (`make one`)
 * beside this file. And KTR_OFF, for those who build without either.
 */
#include <ktr.h>

#include <stdio.h>

KTR_CLASS_DEFINE(work, "what the program does");

int main(void)
{
	for (int i = 0; i < 10; i++)
		CTR2(KTR_CLASS(work), "step %d of %s", i, "ten");
	puts("done");
	return 0;
}
