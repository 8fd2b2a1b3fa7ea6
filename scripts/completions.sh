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

# "letter or -<tab>long<tab>VALUE or -<tab>help" of each option of command $1.
options() {
	"$ktr" "$1" --help | sed -nE '
		s/^ +-([A-Za-z]), --([a-z-]+)([ =]([A-Z][^ ]*))? +(.*)/\1\t\2\t\4\t\5/p
		s/^ +--([a-z-]+)([ =]([A-Z][^ ]*))? +(.*)/-\t\1\t\3\t\4/p' | sed 's/\t\t/\t-\t/'
}

bash_() {
	names=$(commands | cut -f1 | tr '\n' ' ')
	cat <<END
# bash completion for ktr
_ktr() {
	local word=\${COMP_WORDS[COMP_CWORD]} words=
	if [ "\$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=(\$(compgen -W "$names help" -- "\$word"))
		return
	fi
	case \${COMP_WORDS[1]} in
	help) words="$names" ;;
END
	commands | while IFS="$tab" read -r name _; do
		words=$(options "$name" | cut -f2 | sed 's/^/--/' | tr '\n' ' ')
		echo "	$name) words=\"$words\" ;;"
	done
	cat <<'END'
	esac
	case $word in
	-*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
	*) COMPREPLY=($(compgen -f -- "$word")) ;;
	esac
}
complete -o filenames -F _ktr ktr
END
}

zsh_() {
	cat <<'END'
#compdef ktr
_ktr() {
	local -a commands
	commands=(
END
	commands | sed "s/'/'\\\\''/g; s/\(.*\)\t\(.*\)/		'\1:\2'/"
	cat <<'END'
	)
	if (( CURRENT == 2 )); then
		_describe command commands
		return
	fi
	case $words[2] in
END
	commands | while IFS="$tab" read -r name _; do
		echo "	$name) _arguments \\"
		options "$name" | sed "s/'/'\\\\''/g; s/[]:[]/\\\\&/g" | awk -F'\t' '{
			value = $3 == "-" ? "" : ":" $3 ":_files"
			printf "\t\t\047--%s[%s]%s\047 \\\n", $2, $4, value
			if ($1 != "-")
				printf "\t\t\047-%s[%s]%s\047 \\\n", $1, $4, value
		}'
		echo "		'*:file:_files' ;;"
	done
	cat <<'END'
	esac
}
_ktr "$@"
END
}

fish_() {
	commands | sed "s/'/\\\\'/g" | while IFS="$tab" read -r name help; do
		echo "complete -c ktr -n __fish_use_subcommand -a $name -d '$help'"
		options "$name" | sed "s/'/\\\\'/g" | awk -F'\t' -v name="$name" '{
			printf "complete -c ktr -n \047__fish_seen_subcommand_from %s\047 -l %s", name, $2
			if ($1 != "-")
				printf " -s %s", $1
			if ($3 != "-")
				printf " -r"
			printf " -d \047%s\047\n", $4
		}'
	done
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
