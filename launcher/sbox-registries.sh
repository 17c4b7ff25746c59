#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# sbox-registries FILE: asks the package managers that are installed where they fetch from, and
# writes these names as a profile that `fetch` begins with. Nothing is known here of any registry:
# what a manager does not say is not allowed.
set -u
umask 022
file=$1
work=$(mktemp -d) || exit 125
trap 'rm -rf "$work"' EXIT

# "what told it" and a line of text, from which the URLs are taken.
tell() {
	grep -oE '(https?|git|ssh)://[^][:space:]"'\''<>,;|)}]+' | sed "s|^|$1 |" >>"$work/urls"
}

has() { command -v "$1" >/dev/null 2>&1; }
# None of them waits for an answer, or for long.
ask() { timeout 20 "$@" </dev/null 2>/dev/null; }

if has npm; then
	ask npm config list --json | tell npm
fi
for pip in pip3 pip "python3 -m pip"; do
	# shellcheck disable=SC2086 # a command and its arguments
	if ask $pip --version >/dev/null; then
		ask $pip config list | grep -iE 'index|proxy|find.links' | tell pip
		break
	fi
done
if has python3; then
	# what pip itself begins with, where nothing is configured
	ask python3 -c 'from pip._internal.models.index import PyPI
print(PyPI.url, "https://" + PyPI.file_storage_domain)' | tell pip
fi
if has go; then
	ask go env GOPROXY | tell go
	ask go env GOSUMDB | tr ' ' '\n' | sed -n 's|^\([a-z0-9.-]*\.[a-z]*\)$|https://\1|p' | tell go
fi
if has cargo; then
	home=${CARGO_HOME:-$HOME/.cargo}
	cat "$home/config.toml" "$home/config" 2>/dev/null | tell cargo
	# the index that it has used is a folder named by its host; its config says where crates lie
	for index in "$home"/registry/index/*; do
		[ -d "$index" ] || continue
		name=${index##*/}
		echo "https://${name%-*}" | tell cargo
		for config in "$index/config.json" "$index/.cache/config.json"; do
			[ -r "$config" ] && tell cargo <"$config"
		done
	done
fi
if has apt-get; then
	# shellcheck disable=SC2016 # the format is apt's
	ask apt-get indextargets --format '$(REPO_URI)' | tell apt
	ask apt-config dump | grep -i '::proxy' | tell apt
fi
if has git; then
	ask git config --global --get-regexp '^(url\.|http\..*proxy|remote\.)' | tell git
fi

reserved='^(192\.0\.2|198\.51\.100|203\.0\.113|24[0-9]|25[0-5])\.'

# One rule for each host and port; a private address is what the client was told to use.
rules() {
	while read -r who url; do
		scheme=${url%%://*}
		rest=${url#*://}
		rest=${rest%%[/?#]*}
		rest=${rest##*@}
		case $rest in
		*:*) host=${rest%:*} port=${rest##*:} ;;
		*) host=$rest port= ;;
		esac
		case $port in
		'' | *[!0-9]*)
			case $scheme in
			https) port=443 ;;
			http) port=80 ;;
			ssh) port=22 ;;
			git) port=9418 ;;
			esac
			;;
		esac
		case $host in
		'' | localhost | 127.* | *.localhost | *[!A-Za-z0-9.-]*) continue ;;
		*[A-Za-z]*)
			# addresses that no host on the internet has are named themselves
			ask getent ahosts "$host" | grep -oE "${reserved}[0-9.]+" | sort -u |
				sed "s|\$|:$port $who|"
			is_private "$host" && host=$host@private
			;;
		esac
		echo "$host:$port $who"
	done
}

is_private() {
	ask getent ahosts "$1" | grep -qE '^(10\.|192\.168\.|172\.(1[6-9]|2[0-9]|3[01])\.|100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\.|f[cd])'
}

touch "$work/urls"
sort -u "$work/urls" | rules | sort -u >"$work/rules"
if ! [ -s "$work/rules" ]; then
	echo "sbox: no package manager here says where it fetches from; write $file yourself:" >&2
	echo "[network] allow = NAME:443" >&2
	exit 1
fi
{
	echo "; Written by sbox profiles --registries from what the package managers of this account"
	echo "; are configured with. It is overwritten by the next one: what you add belongs in a"
	echo "; profile of your own (extends = fetch)."
	echo
	echo "[profile]"
	echo "description = where this account's package managers fetch from"
	echo
	echo "[network]"
	cut -d' ' -f1 "$work/rules" | sort -u | while read -r rule; do
		echo "; $(sed -n "s|^$rule ||p" "$work/rules" | sort -u | tr '\n' ' ')"
		echo "allow = $rule"
	done
} >"$work/new"
mkdir -p "${file%/*}" && cp "$work/new" "$file.new" && mv -f "$file.new" "$file" || exit 125
echo "$file:"
sed -n 's/^allow = /  /p' "$file"
