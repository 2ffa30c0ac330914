# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts of kernel-patch share: how they complain, where the cache is,
# and which Debian kernels the patches are for. Sourced, never run.

# shellcheck disable=SC2034,SC2154
top=$(dirname "$here")

say() {
	printf 'kernel-patch/%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	say "$*"
	exit 1
}

# need TOOL PACKAGE...: names all tools that are missing, with their packages.
need() {
	local missing=''

	while (($# > 0)); do
		type -P "$1" >/dev/null || missing+=" $1 (apt-get install $2)"
		shift 2
	done
	[[ -z $missing ]] || die "missing:$missing"
}

cache_dir() {
	printf '%s/afalgbatch\n' "${XDG_CACHE_HOME:-${HOME:?}/.cache}"
}

# series_of KVER: 6.1 or 6.12, for a series or for the release of a Debian kernel.
series_of() {
	case $1 in
	6.1 | 6.12) echo "$1" ;;
	6.1.0-+([0-9])-?(cloud-|rt-)amd64) echo 6.1 ;;
	6.12.+([0-9])+deb+([0-9])-?(cloud-|rt-)amd64) echo 6.12 ;;
	'') die "which kernel? KVER is 6.1, 6.12 or what uname -r says" ;;
	*) die "the kernel '$1' is not supported: the patches are for Debian's 6.1 and 6.12 on amd64" ;;
	esac
}

# release_of KVER: the full name. That of a series is the kernel that the virtual machines of the tests run.
release_of() {
	if [[ $1 == 6.1 || $1 == 6.12 ]]; then
		cat "$("$top/tests/vm/fetch-kernel" "$1")/release"
	else
		echo "$1"
	fi
}

# make_modules TREE LOG [VARIABLE=VALUE]...: builds against the headers in $source for $release.
make_modules() {
	local tree=$1 log=$2
	shift 2
	make -C "$source/headers/usr/src/linux-headers-$release" M="$tree" -j"$(nproc)" "$@" modules >"$log" 2>&1 && return
	cat "$log" >&2
	die "the modules for $release do not build"
}

# build_once: has build make the directory $result, unless it is there, and prints it. One build at a time.
build_once() {
	if [[ ! -d $result ]]; then
		exec 9>"$cache/.lock"
		flock 9
		[[ -d $result ]] || build
	fi
	echo "$result"
}

# strict_options: what make_modules takes to have all warnings, those of sparse only where it is installed.
strict_options() {
	echo W=1
	if type -P sparse >/dev/null; then
		echo C=2
	else
		say "without sparse, which is not installed (apt-get install sparse)"
	fi
}

# warnings LOG: what the compiler, modpost and sparse said, without line numbers.
warnings() {
	grep -E '(warning|error|WARNING|ERROR):' "$1" | sed -E 's/:[0-9]+(:[0-9]+)?:/:/; s,^[^ ]*/tree/,,' | sort || :
}
