/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call sites in all the places a program may have them. Each is reached once or more by sites_run(); how
 * many there are is written beside them and summed up in run.sh.
 */
#ifndef TESTS_LINK_SITES_H
#define TESTS_LINK_SITES_H

#include <ktr.h>

void sites_more(void);

/* In a header: one site for each file that includes it. */
static inline void sites_inline(int n)
{
	CTR1(KTR_GEN, "site inline %d", n);
}

#ifdef __cplusplus
/* One site in the program, whoever includes it. */
inline void sites_shared_inline(int n)
{
	CTR1(KTR_GEN, "site shared inline %d", n);
}

/* One site for each type it is used with. */
template <typename T> void sites_template(T value)
{
	CTR1(KTR_GEN, "site template %d", (int)value);
}

struct sites_class {
	sites_class() { CTR0(KTR_GEN, "site constructor"); }
	~sites_class() { CTR0(KTR_GEN, "site destructor"); }
	void method(int n) const { CTR1(KTR_GEN, "site method %d", n); }
	static void function(int n) { CTR1(KTR_GEN, "site static method %d", n); }
};

template <int N> struct sites_deep {
	static void down()
	{
		CTR1(KTR_GEN, "site deep %d", N);
		sites_deep<N - 1>::down();
	}
};
template <> struct sites_deep<0> {
	static void down() {}
};
#endif

#endif
