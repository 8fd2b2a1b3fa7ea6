#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Members of what arguments and results of probed functions point to: what is recorded is what the program prints itself,
# of all kinds, in C and C++, by gcc and clang; where a pointer cannot be read that is said; and by dump, json, sql and
# babeltrace2, at the start and from outside, while threads call.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
[ -e /usr/include/elfutils/libdwfl.h ] || { skip 'no libdw'; exit 0; }
cflags='-g -Wl,--build-id -Iinclude -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/'
source=tests/programs/provider/fbt_members.c
export KTR_CONF= KTR_BUDGET=0 XDG_CACHE_HOME="$dir/cache"
unset KTR_PROBES
pid=
at_exit() { [ -z "$pid" ] || kill "$pid" 2>/dev/null; }

cp $source "$dir/fbt_members.cc"
build() { # COMPILER FLAGS SOURCE
	# shellcheck disable=SC2086,SC2154 # options
	$1 $cflags $2 "$3" -o "$dir/prog" $shared 2>"$dir/err" || { fail "$1 $2: $(head -n 5 "$dir/err")"; return 1; }
}
run() { # GLOBS MEMBERS ARGUMENT...
	globs=$1 members=$2
	shift 2
	rm -rf "$dir/t"
	"$ktr" run --fbt "$globs" --members "$members" -o "$dir/t" "$dir/prog" "$@" >"$dir/wanted" 2>"$dir/err" ||
		fail "$members: exit status $?: $(cat "$dir/err")"
}
calls() { # FUNCTION
	"$ktr" dump --calls "$dir/t" | sed -n "s/^.*| *\\($1(.*\\)\$/\\1/p"
}

numbers='req->len,req->small,req->far,req->yes,req->letter'
others='req->f,req->d,req->state,req->url,req->tag'
bits='req->bits,req->low,req->wide,req->word,req->real'
deep='req->at.y,req->peer.name,req->conn->port,req->conn->next->port,req->conn->next->name'
all_kinds() {
	for set in numbers others bits deep text; do
		case $set in
		numbers) run members_plain "$numbers" $set ;;
		others) run members_plain "$others" $set ;;
		bits) run members_plain "$bits" $set ;;
		deep) run members_plain "$deep" $set ;;
		text) run members_plain 'req->text,req->numbers' $set ;;
		esac
		sed 's/ = .*/;/' "$dir/wanted" >"$dir/want"
		calls members_plain >"$dir/got"
		diff "$dir/want" "$dir/got" >"$dir/diff" || fail "$1 $set: $(cat "$dir/diff")"
	done
}
for c in "$cc" $clang; do build "$c -std=gnu11 -D_GNU_SOURCE" -O2 $source && all_kinds "$c"; done
for c in "${CXX:-c++}" $clangxx; do
	build "$c -std=gnu++17" -O1 "$dir/fbt_members.cc" || continue
	run 'space.*' 'this->n,this->base,this->other,box.n,box.other'
	is "$c: objects" "$(calls 'space::[A-Za-z:_]*' | grep -vE 'Box::~?Box' | paste -sd' ')" \
		'space::Box::add(this->n=3, this->base=11, this->other=12, box.n=4, box.other=12); space::by_value(box.n=3, box.other=12);'
done

# ---- with arguments, of results, on the stack, of what is no struct ----

build "$cc -std=gnu11 -D_GNU_SOURCE" -O1 $source || exit 1
run 'members_*' 'req->len,result->state,*count,*name,*half' numbers
is 'members alone' "$(calls 'members_[a-z]*' | grep -v plain | paste -sd' ')" \
	'members_result(req->len=-5) = result->state=LOST; members_out(*count=3, *name="name", *half=0.5); members_stack(req->len=-5);'
rm -rf "$dir/t"
"$ktr" run --fbt 'members_*' --args --members 'req->len,req->url,result->len' -o "$dir/t" "$dir/prog" numbers >"$dir/out" 2>"$dir/err" ||
	fail "with arguments: $(cat "$dir/err")"
is 'with arguments' "$(calls 'members_[a-z]*' | sed 's/0x[0-9a-f]*/P/g' | paste -sd' ')" \
	'members_plain(req=P, req->len=-5, req->url="/index", n=4) = 4; members_result(req=P, req->len=-5, req->url="/index") = P, result->len=-5; members_out(count=P, name=P, half=P); members_stack(a=1, b=2, c=3, ..., req->len=-5, req->url="/index") = 22;'

# What some of the functions have is none's fault.
run 'members_plain,members_o*' 'req->len,*count' numbers
is 'of some' "$(calls 'members_[a-z]*' | paste -sd' ')" 'members_plain(req->len=-5); members_out(*count=3);'
grep 'no probe fits' "$dir/err" && fail 'of some'

# ---- pointers that cannot be read ----

run members_plain 'req->len,req->d,req->url,req->state,req->conn->port' numbers bad
is 'unreadable' "$(calls members_plain | sed 1d | paste -sd' ')" "$(for i in 1 2; do
	printf 'members_plain(req->len={unreadable}, req->d=nan, req->url="{unreadable}", req->state={unreadable}, req->conn->port={unreadable}); '
done)members_plain(req->len=-5, req->d=-2.25, req->url=\"/index\", req->state=LOST, req->conn->port={unreadable});"

# ---- in other forms ----

run members_plain 'req->len,req->conn->port,req->url' numbers bad
is 'json' "$("$ktr" json "$dir/t" | python3 -c '
import json, sys
for line in sys.stdin:
	e = json.loads(line)
	if e.get("func") == "members_plain" and len(e["args"]) > 1:
		print([v for k, v in e["args"].items() if k != "key"])' | paste -sd' ')" \
	"[-5, 81, '/index'] ['{unreadable}', '{unreadable}', '{unreadable}'] ['{unreadable}', '{unreadable}', '{unreadable}'] ['-5', '{unreadable}', '/index']"
if "$ktr" --help | grep -q '^  sql '; then
	is 'sql' "$("$ktr" sql "$dir/t" "SELECT args FROM calls WHERE name = 'members_plain' LIMIT 1" --csv | tr -d '\r' | tail -n 1)" \
		'"req->len=-5, req->conn->port=81, req->url=""/index"""'
fi
if command -v babeltrace2 >/dev/null; then
	babeltrace2 "$dir/t" 2>"$dir/err" | grep -q 'req_len = -5, req_conn_port = 81, req_url = "/index" }' ||
		fail "babeltrace2: $(babeltrace2 "$dir/t" 2>&1 | grep -m 2 members_plain)"
fi
rm -rf "$dir/t"
KTR_PROBES='fbt::members_plain:entry,fbt_member::members_plain:req->len' "$ktr" run -o "$dir/t" "$dir/prog" numbers bad >"$dir/out" 2>&1
is 'entry alone' "$("$ktr" dump "$dir/t" | sed -n 's/.*members_plain:entry //p' | paste -sd,)" \
	'req->len=-5,req->len={unreadable},req->len={unreadable},req->len=-5'
rm -rf "$dir/t"
KTR_PROBES='fbt::members_result:return,fbt_member::members_result:result->at.y' "$ktr" run -o "$dir/t" "$dir/prog" numbers >"$dir/out" 2>&1
is 'return alone' "$("$ktr" dump "$dir/t" | sed -n 's/.*members_result:return //p')" 'result->at.y=-7'

# ---- what there is none of ----

run members_plain 'req->lenn' numbers
grep -q 'no probe fits fbt_member:::req->lenn, the nearest is fbt_member:[^:]*:[^:]*:req->len$' "$dir/err" ||
	fail "misspelt: $(cat "$dir/err")"
run members_plain 'req->len,req->small,req->far,req->yes,req->letter,req->d' numbers
grep -q 'fbt_member:prog:members_plain:req->d: an event has room for 5 values' "$dir/err" || fail "six: $(cat "$dir/err")"
for none in 'req->' '->len' 'req-len' 'req->len->x' 'req.len' '*req' 'req->at' 'n->x' '...' '*' "$(printf '%0200d' 0)->x"; do
	run members_plain "$none" numbers
	is "none: $none" "$(calls members_plain)" 'members_plain();'
done
status 2 "$ktr" run --members 'req->len' "$dir/prog"

# ---- from outside, while threads call ----

rm -rf "$dir/cache"
mkfifo "$dir/go"
KTR_SESSION=members KTR_ENTRIES=4K "$dir/prog" spin <"$dir/go" >"$dir/out" 2>&1 &
pid=$!
exec 7>"$dir/go"
await '"$ktr" probe list -s members "fbt_member::members_plain:req->l*" >"$dir/list" 2>/dev/null'
is 'listed' "$(sed -n 's/^fbt_member:prog:members_plain:\([^ ]*\)  *off *\(.*\)/\1 \2/p' "$dir/list" | sort | paste -sd,)" \
	'req->len int req->len,req->letter char req->letter,req->low int req->low'
"$ktr" probe list -s members 'fbt_member::members_plain:req->conn->*' | grep -q 'req->conn->next  *off  *struct peer \*' ||
	fail "listed: $("$ktr" probe list -s members 'fbt_member::members_plain:req->conn->*')"
"$ktr" probe enable -s members fbt::members_plain: >"$dir/out" 2>&1 || fail "enabled: $(cat "$dir/out")"
seen() { # LINE: that calls are recorded with from now on
	line=$1
	await 'rm -rf "$dir/t"; "$ktr" snapshot -s members -o "$dir/t" >"$dir/out" 2>&1; calls members_plain >"$dir/got"
		grep -qxF "$line" "$dir/got"'
	calls members_plain | grep -vE '^members_plain\((|req->len=-5|req->url="/index"|req->len=-5, req->url="/index")\);( .*)?$' |
		head -n 3 >"$dir/wrong"
	[ ! -s "$dir/wrong" ] || fail "$1: $(cat "$dir/wrong")"
}
for i in 1 2; do
	for step in enable disable; do
		"$ktr" probe $step -s members 'fbt_member::members_plain:req->len' >"$dir/out" 2>&1 || fail "$step: $(cat "$dir/out")"
		[ $step = disable ] || seen 'members_plain(req->len=-5);'
		"$ktr" probe $step -s members 'fbt_member::members_plain:req->url' >"$dir/out" 2>&1 || fail "$step: $(cat "$dir/out")"
		if [ $step = enable ]; then seen 'members_plain(req->len=-5, req->url="/index");'; else seen 'members_plain();'; fi
	done
done
echo >&7
exec 7>&-
wait $pid || fail "spin: exit status $?"
pid=

exit $failed
