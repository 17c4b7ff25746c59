# SPDX-License-Identifier: Apache-2.0
#
# fish: what can follow is asked from sbox itself (sbox --complete). Installed as
# share/fish/vendor_completions.d/sbox.fish.

function __sbox_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$word"
            case ':folders'
                __fish_complete_directories "$word"
            case ':command *'
                # from the program's name on it is the program's own completion
                set -l at (math (string replace ':command ' '' -- $line) + 2)
                set -l rest $words[$at..-1]
                complete -C "$rest $word"
            case '*'
                echo $line
        end
    end
end

complete -c sbox -f -a '(__sbox_complete)'
