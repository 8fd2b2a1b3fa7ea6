#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What handlers of run-time probes do (they block for ever, fork, load libraries, end their thread or the process, are
# left) delays nothing but the call that takes that handler from that probe; and what threads do in RCU sections of
# the host's own delays nothing of ours, nor we its grace periods. Each case of handlers.c, on both paths: whoever
# waits where he should not runs into the time limit (and is killed: liburcu waits with all signals blocked).
. "$(dirname "$0")/../lib.inc"
export KTR_CONF= KTR_MASK=all

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Iinclude tests/programs/provider/handlers.c -o "$dir/handlers" -rdynamic \
	"$O/lib/libktr-probe.a" "$O/lib/libktr.a" -lurcu-bp -lpthread -ldl || exit 1
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -fPIC -shared -Iinclude tests/programs/provider/handlers_plugin.c \
	-o "$dir/plugin.so" || exit 1

"$dir/handlers" >"$dir/cases"
[ "$(wc -l <"$dir/cases")" -gt 20 ] || fail "only $(wc -l <"$dir/cases") cases"
for path in ${KTR_PATHS:-rseq thread}; do
	while read -r name; do
		want=0
		case $name in exit*) want=7 ;; esac
		KTR_PATH=$path timeout -s KILL "${LIMIT:-120}" "$dir/handlers" "$name" "$dir/plugin.so" >"$dir/out" 2>&1 </dev/null
		got=$?
		[ $got = $want ] || fail "$name, $path: exit status $got instead of $want: $(cat "$dir/out")"
		[ $got = $want ] && [ -s "$dir/out" ] && fail "$name, $path: $(cat "$dir/out")"
	done <"$dir/cases"
done

# With a trace, whose writer ends as the program does: while a handler blocks, and out of a handler.
for name in block_exit exit exit_thread; do
	want=0
	[ $name = block_exit ] || want=7
	timeout -s KILL "${LIMIT:-120}" "$ktr" run -o "$dir/$name" "$dir/handlers" $name >"$dir/out" 2>&1
	is "$name, traced" $? $want
	is "$name, its trace" "$("$ktr" dump -q "$dir/$name" | grep -cE ' (a|exits) 0 0 0 0 0 0$')" 1
	tail -1 "$dir/$name/ktr/info.jsonl" | grep -q '"kind":"end".*"lost":0,' || fail "$name: the trace does not end"
done

# A program starts ktr by making its first probe, which loads libraries, while another thread loads a module with
# points: at the former's first dlopen() the latter is in a constructor.
cat >"$dir/starts.c" <<-'END'
	#define KTR_NO_AUTOSTART
	#include <ktr/probe.h>
	#include <dlfcn.h>
	#include <pthread.h>
	#include <sched.h>
	void (*handlers_closing)(void);
	static int loading, opening;
	static __thread int starts;
	static void until(int *word)
	{
		while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
			sched_yield();
	}
	void *dlopen(const char *path, int flags)
	{
		if (starts)
			__atomic_store_n(&opening, 1, __ATOMIC_SEQ_CST);
		return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(path, flags);
	}
	void in_constructor(void)
	{
		__atomic_store_n(&loading, 1, __ATOMIC_SEQ_CST);
		until(&opening);
	}
	static void *load(void *path)
	{
		return dlopen(path, RTLD_NOW);
	}
	int main(int argc, char **argv)
	{
		struct ktr_probe *probe;
		pthread_t thread;
		void *module;

		if (pthread_create(&thread, NULL, load, argv[argc - 1]))
			return 1;
		until(&loading);
		starts = 1;
		if (ktr_probe_register(KTR_PROBE_CUSTOM, "starts", "", NULL, &probe) || ktr_probe_enable(probe))
			return 2;
		pthread_join(thread, &module);
		return module && ktr_probe_find(KTR_PROBE_CUSTOM, "plugin") ? 0 : 3;
	}
END
printf 'void in_constructor(void);\n__attribute__((constructor)) static void hook(void) { in_constructor(); }\n' >"$dir/hook.c"
shared="-L$O/lib -lktr-probe -lktr -Wl,-rpath,$O/lib"
# shellcheck disable=SC2086
$cc -fPIC -shared "$dir/hook.c" -o "$dir/libhook.so" &&
	$cc -std=gnu11 -D_GNU_SOURCE -O1 -fPIC -shared -Iinclude tests/programs/provider/handlers_plugin.c -o "$dir/points.so" \
		"-L$dir" -Wl,--no-as-needed -lhook "-Wl,-rpath,$dir" $shared &&
	$cc -std=gnu11 -D_GNU_SOURCE -O1 -w -Iinclude "$dir/starts.c" -o "$dir/starts" -rdynamic $shared -lpthread -ldl || exit 1
KTR_FILE="$dir/starts.trace" timeout -s KILL "${LIMIT:-120}" "$dir/starts" "$dir/points.so" >"$dir/out" 2>&1
is 'a start while a module is loaded' "$? $(cat "$dir/out")" '0 '

# A host that has all thread keys there are keeps what it has in them; probes work without one.
cat >"$dir/keys.c" <<-'END'
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	static pthread_key_t key[4096];
	static unsigned n_keys;
	static void *in_thread(void *use)
	{
		for (unsigned i = 0; i < n_keys; i++)
			pthread_setspecific(key[i], &key[i]);
		((void (*)(void))use)();
		for (unsigned i = 0; i < n_keys; i++)
			if (pthread_getspecific(key[i]) != &key[i])
				printf("key %u was changed\n", i);
		return NULL;
	}
	int main(int argc, char **argv)
	{
		pthread_t thread;
		void *module, *use;

		while (n_keys < 4096 && pthread_key_create(&key[n_keys], NULL) == 0)
			n_keys++;
		module = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
		use = module ? dlsym(module, "use") : NULL;
		for (int i = 0; use && i < 3; i++)
			if (pthread_create(&thread, NULL, in_thread, use) || pthread_join(thread, NULL))
				return 1;
		return n_keys < 100 || !use;
	}
END
cat >"$dir/uses.c" <<-'END'
	#include <ktr/probe.h>
	#include <stdio.h>
	static void handler(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			    uint64_t a5)
	{
		(void)probe, (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
		puts("called");
	}
	void use(void)
	{
		struct ktr_probe *probe;

		if (ktr_probe_register(KTR_PROBE_CUSTOM, "keys", "", handler, &probe) || ktr_probe_enable(probe))
			puts("not registered");
		KTR_PROBE0(probe);
		if (ktr_probe_remove(probe))
			puts("not removed");
	}
END
$cc -std=gnu11 -O1 -w "$dir/keys.c" -o "$dir/keys" -lpthread -ldl || exit 1
$cc -std=gnu11 -O1 -Wall -Iinclude -fPIC -shared "$dir/uses.c" -o "$dir/uses.so" -L"$O/lib" -lktr-probe -lktr "-Wl,-rpath,$O/lib" ||
	exit 1
timeout -s KILL "${LIMIT:-120}" "$dir/keys" "$dir/uses.so" >"$dir/out" 2>&1 || fail "no keys left: exit status $?"
is 'no keys left' "$(tr '\n' ' ' <"$dir/out")" 'called called called '
exit $failed
