/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments with casts, as C and as C++: i goes from 0 to 9, each argument has its own name. */
#include <ktr.h>

#include <stdint.h>

KTR_CLASS_DEFINE(casts, "arguments with casts");

int main(void)
{
	for (int i = 0; i < 10; i++) {
		long a = i, b = i, c = i, d = i, e = i, sum = 1;

#ifdef __cplusplus
		CTR6(KTR_CLASS(casts), "six %d %u %d %d %d %d", (int)a, (unsigned)(b), ((int)c), static_cast<int>(d),
		     int(e), (int)sum + 1);
#else
		CTR6(KTR_CLASS(casts), "six %d %u %d %d %d %d", (int)a, (unsigned)(b), ((int)c), (int)(char)d, (int)(e),
		     (int)sum + 1);
#endif
	}
	return 0;
}
