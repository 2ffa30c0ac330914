# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts of tests/vm share: how they complain, where the cache is, and how they name the Debian package of a tool
# that is missing. Sourced, never run.

# The exit statuses of the harness itself; everything else is the guest command's.
# shellcheck disable=SC2034
readonly EXIT_TIMEOUT=124 EXIT_HARNESS=125 EXIT_KERNEL_LOG=126

say() {
	printf '%s: %s\n' "tests/vm/${0##*/}" "$*" >&2
}

die() {
	say "$*"
	exit "$EXIT_HARNESS"
}

# need TOOL PACKAGE...: pairs of a tool and the Debian package that has it. Names all that is missing at once.
need() {
	local missing=()

	while (($# > 0)); do
		type -P "$1" >/dev/null || missing+=("$1 (apt-get install $2)")
		shift 2
	done
	((${#missing[@]} == 0)) && return
	printf -v missing '%s, ' "${missing[@]}"
	die "missing: ${missing%, }"
}

# sbin is not in every user's PATH, and depmod and modprobe live there. The script's own PATH is changed, not the guest's.
use_sbin() {
	PATH=${PATH:+$PATH:}/usr/sbin:/sbin
}

cache_dir() {
	printf '%s/afalgbatch/kernels\n' "${XDG_CACHE_HOME:-${HOME:?}/.cache}"
}
