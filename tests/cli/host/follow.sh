#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Children, however they are made, and where they record: in their parent's session, in one of their own,
# or nowhere.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build follow tests/programs/host/follow.c
export KTR_CONF= KTR_MASK=gen,family KTR_DEAD_SESSIONS=100 KTR_ENTRIES=1024

sessions() {
	"$ktr" ls --json | sed -n 's/^    "name": "\(.*\)",$/\1/p'
}

# Runs it; then for each session one line: who recorded how many events there, in alphabetic order.
family() {
	"$ktr" rm --dead >/dev/null
	timeout 300 "$@" || fail "exit status of $*: $?"
	for name in $(sessions); do
		"$ktr" dump -s "$name" -q 2>/dev/null
		echo end
	done | awk '/ of / { sub(/.* of /, ""); n[$0]++ }
		/^end$/ {
			line = ""
			for (i = 1; i <= 5; i++) {
				if (who[i] in n)
					line = line n[who[i]] " " who[i] ";"
				delete n[who[i]]
			}
			for (other in n)
				line = line n[other] " " other ", who is nobody;"
			print line
			split("", n)
		}
		BEGIN { split("child:grandchild:parent:parent, again:thread", who, ":") }' | LC_ALL=C sort
}

for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	p="20 parent;20 parent, again;"
	is "fork, same" "$(family "$out/follow" fork)" "20 child;20 grandchild;${p}20 thread;"
	is "double fork, same" "$(family "$out/follow" double)" "20 grandchild;$p"
	is "fork, none" "$(KTR_FOLLOW_FORK=none family "$out/follow" fork)" "$p"
	is "fork, own" "$(KTR_FOLLOW_FORK=own family "$out/follow" fork)" "20 child;20 thread;
20 grandchild;
$p"
	is "double fork, own" "$(KTR_FOLLOW_FORK=own family "$out/follow" double)" "
20 grandchild;
$p"
	# A session of its own has the settings of its parent's: a mask changed meanwhile, the class and
	# its bit, the size of the rings, thread names.
	for name in $(sessions); do
		is "settings of $name" "$("$ktr" sysctl -s "$name" -n entries mask follow_fork | tr '\n' ' ')" \
			"1024 gen|family own "
	done
	"$ktr" rm --dead >/dev/null
	printf 'debug.ktr.%s\n' freeze_after=5 freeze_on=usr1 alq_max=1000000 verbose_to=syslog alq_rotate_keep=7 budget=3 \
		fbt_longer=5ms fbt_depth=4 fbt_within=1 >"$dir/conf"
	KTR_CONF=$dir/conf KTR_FOLLOW_FORK=own "$out/follow" fork >/dev/null
	for name in $(sessions); do
		is "other settings of $name" \
			"$("$ktr" sysctl -s "$name" -n freeze_after freeze_on alq_max verbose_to alq_rotate_keep budget \
			fbt_longer fbt_depth fbt_within | tr '\n' ' ')" \
			"5 usr1 1000000 syslog 7 3 5ms 4 1 "
	done
	KTR_FOLLOW_FORK=own family "$out/follow" fork >/dev/null
	"$ktr" ls | grep -c ' dead ' | grep -qx 3 || fail "sessions: $("$ktr" ls)"
	# What exec starts looks at the environment, and not at the knob.
	for how in exec vfork spawn system; do
		for follow in same own none; do
			export KTR_FOLLOW_FORK=$follow
			is "$how, $follow" "$(family "$out/follow" $how)" "20 child;
$p"
			before= # what a forked child recorded before exec, in a session of its own
			[ $how$follow = execown ] && before="
"
			is "$how, $follow, of one name" "$(KTR_SESSION=one family "$out/follow" $how)" "${before}20 child;$p"
		done
	done
	unset KTR_FOLLOW_FORK
	# A clean exit takes the parent's session and leaves the child's, and the other way around.
	family env KTR_FOLLOW_FORK=own "$out/follow" fork clean >/dev/null
	is "sessions of children" "$(sessions | wc -l)" 2
	family env KTR_FOLLOW_FORK=none "$out/follow" fork clean >/dev/null
	is "sessions of no children" "$(sessions | wc -l)" 0
	family env "$out/follow" fork clean >/dev/null
	is "sessions of the same" "$(sessions | wc -l)" 0
done
"$ktr" rm --dead >/dev/null

# The whole family in one trace, and its parent's alone.
cd "$work" || exit 1
unset KTR_PATH
for how in fork exec vfork spawn system double; do
	rm -rf ktr.out
	timeout 300 "$ktr" run "$out/follow" $how 2>err || fail "$(cat err)"
	n=$("$ktr" dump -q | grep -c ' of child$')
	[ $how = double ] && n=$("$ktr" dump -q | grep -c ' of grandchild$')
	is "events of a child in the trace, by $how" "$n" 20
	is "events of the parent in the trace, by $how" "$("$ktr" dump -q | grep -c ' of parent')" 40
done
KTR_FOLLOW_FORK=none timeout 300 "$ktr" run -o alone "$out/follow" fork clean 2>err || fail "$(cat err)"
is "events without children" "$("$ktr" dump -q alone | grep -c ' of [cgt]')" 0
KTR_FOLLOW_FORK=sam timeout 300 "$out/follow" fork 2>err
grep -q 'follow_fork.*"sam".*"same"' err || fail "a misspelt choice: $(cat err)"
exit $failed
