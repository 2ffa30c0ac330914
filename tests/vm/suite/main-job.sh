#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# main-job.sh - the openssl command with the provider, as a user types it: the
# digests against coreutils, and the provider's own words on who did the work.
# Runs on the host and in a guest, from the top folder.
set -eu -o pipefail
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export AFALGBATCH_DEBUG=1

in_kernel() { [ -n "${AFALGBATCH_EXPECT_KERNEL-}" ]; }

# served BACKEND FILE - does the provider say in FILE that BACKEND did every message?
served() {
	grep -q "^afalgbatch: counters: messages \([1-9][0-9]*\) (.*\<$1 \1[,)]" "$2"
}

# dgst ALGORITHM ARGUMENT... - its standard error goes to $work/err.
dgst() {
	local algorithm=$1
	shift
	openssl dgst "-$algorithm" -provider afalgbatch "$@" 2>"$work/err"
}

piped_zeros() {
	local got expected
	got=$(dd if=/dev/zero bs=1048576 count=16 status=none | dgst "$1")
	expected=$(dd if=/dev/zero bs=1048576 count=16 status=none | "$1sum")
	[ "${got##*= }" = "${expected%% *}" ] && served "$2" "$work/err"
}

# The back end that serves when nobody asks for one.
if in_kernel; then usual=uring; else usual=soft; fi

for algorithm in md5 sha1 sha224 sha256 sha384 sha512; do
	check "dd_into_dgst_${algorithm}_equals_${algorithm}sum_by_$usual" piped_zeros "$algorithm" "$usual"
done

by_back_end() {
	local AFALGBATCH_BACKEND=$1
	export AFALGBATCH_BACKEND
	piped_zeros sha256 "$2"
}
check "sync_is_served_by_blocking_calls" by_back_end sync "$(in_kernel && echo sync || echo soft)"
check "aio_is_served_by_blocking_calls_in_a_stream" by_back_end aio "$(in_kernel && echo sync || echo soft)"
check "soft_is_served_by_libcrypto" by_back_end soft soft

many_files() {
	local i
	for i in $(seq 40); do
		head -c $((i * i * 997)) /dev/urandom >"$work/file$i"
	done
	: >"$work/empty"
	dgst sha256 -r "$work"/file* "$work/empty" >"$work/got"
	sha256sum -b "$work"/file* "$work/empty" >"$work/expected"
	cmp "$work/got" "$work/expected" && served "$usual" "$work/err"
}
check "many_files_in_one_command_equal_sha256sum" many_files

missing_file() {
	local status=0
	dgst sha256 "$work/file1" "$work/absent" "$work/empty" >"$work/got" || status=$?
	[ "$status" = 1 ] && [ "$(wc -l <"$work/got")" = 2 ]
}
check "missing_file_is_noticed_and_the_others_are_hashed" missing_file

beside_default() {
	local got
	got=$(openssl dgst -sha256 -provider afalgbatch -provider default "$work/file40" 2>"$work/err")
	[ "${got##*= }" = "$(sha256sum <"$work/file40" | cut -d' ' -f1)" ] && served "$usual" "$work/err"
}
check "beside_default_ours_serves" beside_default

configured() {
	cat >"$work/cnf" <<-END
		openssl_conf = init
		[init]
		providers = list
		[list]
		default = default_section
		afalgbatch = ours
		[default_section]
		activate = 1
		[ours]
		activate = 1
		backend = $1
		debug = yes
	END
	env -u AFALGBATCH_DEBUG OPENSSL_CONF="$work/cnf" openssl dgst -sha256 "$work/file40" >"$work/got" 2>"$work/err"
}
from_configuration() {
	configured auto && served "$usual" "$work/err" &&
		[ "$(sed 's/.*= //' "$work/got")" = "$(sha256sum <"$work/file40" | cut -d' ' -f1)" ]
}
check "openssl_cnf_activates_it" from_configuration

unknown_back_end() {
	local status=0
	AFALGBATCH_BACKEND=nonsense dgst sha256 "$work/file1" || status=$?
	[ "$status" != 0 ] && grep -q nonsense "$work/err" && grep -q 'auto, uring, aio, sync, soft' "$work/err"
}
check "unknown_back_end_is_refused_by_name" unknown_back_end

# OpenSSL goes on without a provider that its configuration cannot start.
unknown_back_end_in_configuration() {
	configured nonsense || true
	grep -q '^afalgbatch: error: .*nonsense.*auto, uring, aio, sync, soft' "$work/err"
}
check "unknown_back_end_in_openssl_cnf_is_said" unknown_back_end_in_configuration

missing_module() {
	local status=0
	OPENSSL_MODULES=$work dgst sha256 "$work/file1" || status=$?
	[ "$status" != 0 ] && grep -q afalgbatch "$work/err"
}
check "missing_provider_module_is_a_clear_error" missing_module

silent() {
	env -u AFALGBATCH_DEBUG openssl dgst -sha256 -provider afalgbatch "$work/file1" 2>"$work/err" >/dev/null
	[ ! -s "$work/err" ]
}
check "silent_unless_asked" silent

no_algif_hash() {
	echo 'install algif_hash /bin/false' >/etc/modprobe.d/no-hash.conf
	rmmod algif_hash
	piped_zeros sha256 soft && grep -q '^afalgbatch: fall-backs: not offered by the kernel 1' "$work/err"
}
if in_kernel; then
	check "without_algif_hash_libcrypto_serves_and_it_is_said" no_algif_hash
	rm -f /etc/modprobe.d/no-hash.conf
	modprobe algif_hash
	check "with_algif_hash_back_the_kernel_serves_again" piped_zeros sha256 uring
else
	skip "without_algif_hash_libcrypto_serves_and_it_is_said" "no kernel to take it from"
fi

# The counters' system calls against what strace saw of them.
honest_counters() {
	local calls said
	calls=io_uring_enter,io_uring_setup,accept4,sendto,sendmsg
	dd if=/dev/zero bs=1048576 count=16 status=none >"$work/zeros"
	strace -f -e "trace=$calls" -o "$work/trace" \
		openssl dgst -sha256 -provider afalgbatch "$work/zeros" 2>"$work/err" >/dev/null
	said=$(sed -n 's/^afalgbatch: counters: .*system calls \([0-9]*\),.*/\1/p' "$work/err")
	# What opening the session asks is not for a message: some calls more.
	calls=$(grep -c -v -e '+++' -e '---' -e 'resumed>' "$work/trace")
	echo "# the provider counts $said system calls, strace $calls"
	[ "$calls" -ge "$said" ] && [ "$calls" -le $((said + 8)) ]
}
if in_kernel && strace -o /dev/null true 2>/dev/null; then
	check "counters_count_what_strace_sees" honest_counters
else
	skip "counters_count_what_strace_sees" "needs strace and a kernel that serves"
fi

finish
