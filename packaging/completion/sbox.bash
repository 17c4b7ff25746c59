# SPDX-License-Identifier: Apache-2.0
#
# bash: what can follow is asked from sbox itself (sbox --complete). Installed as
# share/bash-completion/completions/sbox; or: source packaging/completion/sbox.bash

_sbox() {
    local line words=() word
    COMPREPLY=()
    # bash splits words at ":" and "=" as well; sbox wants them whole
    local typed=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$typed"
    [[ $typed == *[[:space:]] ]] && words+=("")
    word=${words[-1]}
    # what bash has already taken as words of their own
    local taken=${word%"${COMP_WORDS[COMP_CWORD]}"}
    [[ ${COMP_WORDS[COMP_CWORD]} == [=:] ]] && taken=$word
    while IFS= read -r line; do
        case $line in
        :files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word") ;;
        :folders) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$word") ;;
        :command\ *) _sbox_command "${line#:command }" ;;
        *)
            line=${line%%$'\t'*}
            # no file's name: its "=" stays as it is
            [[ $line == *= ]] && compopt -o nospace +o filenames
            COMPREPLY+=("${line#"$taken"}")
            ;;
        esac
    done < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
}

# From the program's name on it is the program's completion, where there is one.
_sbox_command() {
    if declare -F _command_offset >/dev/null && (($1 + 1 < COMP_CWORD)); then
        _command_offset "$(($1 + 1))"
    elif (($1 + 1 == ${#words[@]} - 1)); then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
    else
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -o filenames -o bashdefault -F _sbox sbox
