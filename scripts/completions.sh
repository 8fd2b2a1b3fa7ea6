#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prints completions for a shell. `ktr complete WORDS` says what there is: "value<tab>help" lines, ":files" where a file
# may stand; what it prints is quoted, never evaluated.
#
#	scripts/completions.sh bash|zsh|fish
set -eu
case ${1:-} in
bash)
	cat <<'BASH'
# bash completion for ktr and ktrdump
_ktr() {
	local line value current before word words=() i
	# bash takes words apart at : and =, which names of call sites and options have.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $i -gt 1 && ( $word == [:=]* || ${COMP_WORDS[i-1]} == *[:=] ) ]]; then
			words[${#words[@]}-1]+=$word
		else
			words+=("$word")
		fi
	done
	for i in "${!words[@]}"; do
		word=${words[i]//\\/}
		word=${word#[\"\']}
		words[i]=${word%[\"\']}
	done
	current=${words[${#words[@]}-1]}
	before=${current%"${current##*[:=]}"}
	COMPREPLY=()
	while IFS= read -r line; do
		value=${line%%$'\t'*}
		if [[ $value == :files ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "${current##*=}")
		else
			value=${value#"$before"}
			[[ ${COMP_WORDS[COMP_CWORD]} == [\"\']* ]] || printf -v value %q "$value"
			COMPREPLY+=("$value")
		fi
	done < <("${COMP_WORDS[0]/%ktrdump/ktr}" complete "${words[@]}" 2>/dev/null)
}
complete -F _ktr ktr ktrdump
BASH
	;;
zsh)
	cat <<'ZSH'
#compdef ktr ktrdump
_ktr() {
	local -a values
	local line files
	for line in "${(@f)$("${words[1]/%ktrdump/ktr}" complete "${(@Q)words[1,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		:files) files=1 ;;
		?*) values+=("${${line//:/\\:}/$'\t'/:}") ;;
		esac
	done
	(( $#values )) && _describe ktr values
	[[ -n $files ]] && _files
}
_ktr "$@"
ZSH
	;;
fish)
	cat <<'FISH'
# fish completion for ktr and ktrdump
function __ktr_complete
	set -l words (commandline -opc)
	set -l word (commandline -ct)
	set -l program (string replace -r 'ktrdump$' ktr -- $words[1])
	for line in ($program complete $words "$word" 2>/dev/null)
		if test "$line" = :files
			__fish_complete_path "$word"
		else
			echo $line
		end
	end
end
complete -c ktr -f -a '(__ktr_complete)'
complete -c ktrdump -f -a '(__ktr_complete)'
FISH
	;;
*)
	echo "completions.sh: no completions for \"${1:-}\": bash, zsh, fish" >&2
	exit 2
	;;
esac
