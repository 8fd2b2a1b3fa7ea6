/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced shared object, built several times: PLUGIN names it. Each defines the class `shared`, and
 * one of its own. With PLUGIN_MANY it defines more classes than a session has bits for.
 */
#include <ktr.h>

#define PLUGIN_TEXT2(name) #name
#define PLUGIN_TEXT(name)  PLUGIN_TEXT2(name)
#define PLUGIN_CLASS2(name) only_##name
#define PLUGIN_CLASS(name)  PLUGIN_CLASS2(name)

/* Twice, so that the macro's argument is expanded. */
#define PLUGIN_DEFINE(class_name, text) KTR_CLASS_DEFINE(class_name, text)
#define PLUGIN_OWN2(class_name)		KTR_CLASS(class_name)
#define PLUGIN_OWN			PLUGIN_OWN2(PLUGIN_CLASS(PLUGIN))

KTR_CLASS_DEFINE(shared, "what two libraries both call shared");
PLUGIN_DEFINE(PLUGIN_CLASS(PLUGIN), "what one library has for itself");

#ifdef PLUGIN_MANY
#define PLUGIN_TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define PLUGIN_ALL(X)	 PLUGIN_TEN(X, 0) PLUGIN_TEN(X, 1) PLUGIN_TEN(X, 2) PLUGIN_TEN(X, 3)
#define PLUGIN_ONE(n)	 KTR_CLASS_DEFINE(many##n, "one of many");
PLUGIN_ALL(PLUGIN_ONE)
#endif

int plugin_trace(int n);

__attribute__((constructor)) static void plugin_begin(void)
{
	CTR0(KTR_GEN, PLUGIN_TEXT(PLUGIN) " constructor");
}

__attribute__((destructor)) static void plugin_end(void)
{
	CTR0(KTR_GEN, PLUGIN_TEXT(PLUGIN) " destructor");
}

int plugin_trace(int n)
{
	CTR1(KTR_GEN, PLUGIN_TEXT(PLUGIN) " number %d", n);
	CTR2(KTR_CLASS(shared), PLUGIN_TEXT(PLUGIN) " shared %d %s", n, "text");
	CTR1(PLUGIN_OWN, PLUGIN_TEXT(PLUGIN) " own %d", n);
#ifdef PLUGIN_MANY
#define PLUGIN_EVENT(m) CTR1(KTR_CLASS(many##m), "many " #m " %d", n);
	PLUGIN_ALL(PLUGIN_EVENT)
#endif
	return __LINE__;
}
