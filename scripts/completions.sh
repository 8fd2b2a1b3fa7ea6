#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prints completions for a shell, made from what the built command says of itself in --help.
#
#	scripts/completions.sh bash|zsh|fish KTR
set -eu
shell=$1
ktr=$2

# "name<tab>help" of each command.
commands() {
	"$ktr" --help | sed -n '/^commands:/,$s/^  \([a-z-]*\) *\(.*\)/\1\t\2/p'
}

# "letter or -<tab>long<tab>VALUE or -<tab>help" of each option of command $1; - is ktrdump.
options() {
	if [ "$1" = - ]; then "${ktr}dump" --help; else "$ktr" "$1" --help; fi | sed -nE '
		s/^ +-([A-Za-z]), --([a-z-]+)([ =]([A-Z][^ ]*))? +(.*)/\1\t\2\t\4\t\5/p
		s/^ +--([a-z-]+)([ =]([A-Z][^ ]*))? +(.*)/-\t\1\t\3\t\4/p' | sed 's/\t\t/\t-\t/'
}

# The words that command $1 takes first: "list enable disable". ktrdump takes none.
verbs() {
	[ "$1" != - ] || return 0
	"$ktr" "$1" --help | sed -nE "s/^usage: ktr $1 \[OPTIONS\] ([a-z]+(\|[a-z]+)+)( .*)?/\1/p" | tr '|' ' '
}

# Options of command $1 as bash wants them: --one --other
bash_options() {
	options "$1" | cut -f2 | sed 's/^/--/' | tr '\n' ' '
}

bash_() {
	names=$(commands | cut -f1 | tr '\n' ' ')
	cat <<END
# bash completion for ktr and ktrdump
_ktr() {
	local word=\${COMP_WORDS[COMP_CWORD]} words= verbs=
	if [ "\$COMP_CWORD" -eq 1 ] && [ "\${COMP_WORDS[0]##*/}" != ktrdump ]; then
		COMPREPLY=(\$(compgen -W "$names help" -- "\$word"))
		return
	fi
	case \${COMP_WORDS[0]##*/}:\${COMP_WORDS[1]} in
	ktrdump:*) words="$(bash_options -)" ;;
	*:help) words="$names" ;;
END
	commands | while IFS="$tab" read -r name _; do
		echo "	*:$name) words=\"$(bash_options "$name")\" verbs=\"$(verbs "$name")\" ;;"
	done
	cat <<'END'
	esac
	if [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ]; then
		COMPREPLY=($(compgen -W "$verbs" -- "$word"))
		return
	fi
	case $word in
	-*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
	*) COMPREPLY=($(compgen -f -- "$word")) ;;
	esac
}
complete -o filenames -F _ktr ktr ktrdump
END
}

# Options of command $1 as the words of zsh's _arguments, the last line going on.
zsh_options() {
	echo "_arguments \\"
	options "$1" | sed "s/'/'\\\\''/g; s/[]:[]/\\\\&/g" | awk -F'\t' '{
		value = $3 == "-" ? "" : ":" $3 ":_files"
		printf "\t\t\047--%s[%s]%s\047 \\\n", $2, $4, value
		if ($1 != "-")
			printf "\t\t\047-%s[%s]%s\047 \\\n", $1, $4, value
	}'
	if [ -n "$(verbs "$1")" ]; then
		printf "\t\t'*:what:(%s)'" "$(verbs "$1")"
	else
		printf "\t\t'*:file:_files'"
	fi
}

zsh_() {
	cat <<'END'
#compdef ktr ktrdump
_ktr() {
	local -a commands
	commands=(
END
	commands | sed "s/'/'\\\\''/g; s/\(.*\)\t\(.*\)/		'\1:\2'/"
	cat <<END
	)
	if [[ \$service = ktrdump ]]; then
		$(zsh_options -)
		return
	fi
	if (( CURRENT == 2 )); then
		_describe command commands
		return
	fi
	case \$words[2] in
END
	commands | while IFS="$tab" read -r name _; do
		echo "	$name) $(zsh_options "$name") ;;"
	done
	cat <<'END'
	esac
}
_ktr "$@"
END
}

# Options of command $1 for program $2, under the condition $3.
fish_options() {
	options "$1" | sed "s/'/\\\\'/g" | awk -F'\t' -v before="complete -c $2$3" '{
		printf "%s -l %s", before, $2
		if ($1 != "-")
			printf " -s %s", $1
		if ($3 != "-")
			printf " -r"
		printf " -d \047%s\047\n", $4
	}'
}

fish_() {
	commands | sed "s/'/\\\\'/g" | while IFS="$tab" read -r name help; do
		echo "complete -c ktr -n __fish_use_subcommand -a $name -d '$help'"
		[ -z "$(verbs "$name")" ] ||
			echo "complete -c ktr -f -n '__fish_seen_subcommand_from $name' -a '$(verbs "$name")'"
		fish_options "$name" ktr " -n '__fish_seen_subcommand_from $name'"
	done
	fish_options - ktrdump ''
}

tab=$(printf '\t')
case $shell in
bash) bash_ ;;
zsh) zsh_ ;;
fish) fish_ ;;
*)
	echo "completions.sh: no completions for \"$shell\": bash, zsh, fish" >&2
	exit 2
	;;
esac
