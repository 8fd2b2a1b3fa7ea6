/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments with casts, as C and C++: i goes from 0 to 9, each argument has its own name. Locks have one, too. */
#include <ktr.h>

#include <pthread.h>
#include <stdint.h>

KTR_CLASS_DEFINE(casts, "arguments with casts");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spinlock;

int main(void)
{
	KTR_LOCK_NAME(&mutex, "mutex");
	KTR_LOCK_NAME(&spinlock, "spinlock");
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
