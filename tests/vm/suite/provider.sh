#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# provider.sh - the openssl command's MACs, keys from passwords and random numbers
# with the provider, alone and with the default one beside it. I8 and M7 are cases
# that other projects' users met. Runs on the host and in a guest, from the top
# folder.
set -eu -o pipefail
export LC_ALL=C
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export AFALGBATCH_DEBUG=1

in_kernel() { [ -n "${AFALGBATCH_EXPECT_KERNEL-}" ]; }
if in_kernel; then usual=uring; else usual=soft; fi

alone=(-provider afalgbatch)
both=(-provider afalgbatch -provider default)

# ours COMMAND ARGUMENT... - openssl; its standard error goes to $work/err.
ours() {
	openssl "$@" 2>"$work/err"
}

# served BACKEND - did that back end do every message, and were there any?
served() {
	grep -q "^afalgbatch: counters: messages \([1-9][0-9]*\) (.*\<$1 \1[,)]" "$work/err"
}

# refused PATTERN COMMAND ARGUMENT... - status 1, and an error of openssl's in words.
refused() {
	local pattern=$1 status=0
	shift
	ours "$@" >"$work/out" </dev/null || status=$?
	[ "$status" = 1 ] && [ ! -s "$work/out" ] && grep -qi -e "$pattern" "$work/err"
}

head -c 200000 /dev/urandom >"$work/data"

# dgst_hmac DIGEST PROVIDERS... - with the provider, as without it.
dgst_hmac() {
	local digest=$1 got expected
	shift
	expected=$(openssl dgst "-$digest" -hmac secret -r "$work/data")
	got=$(ours dgst "-$digest" -hmac secret -r "$@" "$work/data")
	[ "$got" = "$expected" ] && served "$usual"
}
check "dgst_hmac_is_served_by_$usual" dgst_hmac sha256 "${both[@]}"
check "dgst_hmac_of_sha3_is_served_by_$usual" dgst_hmac sha3-512 "${both[@]}"

# mac NAME ARGUMENT... - by our provider alone, as by default.
mac() {
	local got expected
	expected=$(openssl mac "${@:2}" -in "$work/data" "$1")
	got=$(ours mac "${alone[@]}" "${@:2}" -in "$work/data" "$1")
	[ "$got" = "$expected" ]
}

mac_in_kernel() {
	mac "$@" && served "$usual"
}
key=2b7e151628aed2a6abf7158809cf4f3c
check "mac_hmac_alone_is_served_by_$usual" mac_in_kernel HMAC -macopt digest:SHA512 -macopt hexkey:$key
check "mac_cmac_alone_is_served_by_$usual" mac_in_kernel CMAC -macopt cipher:AES-128-CBC -macopt hexkey:$key
check "mac_of_a_digest_that_the_kernel_lacks_is_right" mac HMAC -macopt digest:SHA512-256 -macopt hexkey:$key

# M7
empty_key() {
	local one two
	one=$(printf 'Sample message' | ours dgst -sha256 "${both[@]}" -hmac '')
	two=$(printf 'Sample message' | ours dgst -sha256 "${both[@]}" -mac HMAC -macopt hexkey:00)
	[ "${one##*= }" = "${two##*= }" ] && served "$usual"
	[ "${one##*= }" = "$(printf 'Sample message' | openssl dgst -sha256 -hmac '' | sed 's/.*= //')" ]
}
check "empty_key_and_one_zero_byte_give_the_same_hmac" empty_key

check "mac_that_we_lack_is_refused_alone" refused "unsupported" mac "${alone[@]}" -macopt hexkey:$key$key POLY1305

poly1305() {
	local got expected
	expected=$(openssl mac -macopt hexkey:$key$key -in "$work/data" POLY1305)
	got=$(ours mac "${both[@]}" -macopt hexkey:$key$key -in "$work/data" POLY1305)
	[ "$got" = "$expected" ]
}
check "mac_that_we_lack_is_served_by_default_beside_us" poly1305

# I8
password() {
	[ "$(echo raininspain | ours enc "$@" -aes-256-cbc -pbkdf2 -pass pass:hello -S aabbccddeeff0011 | xxd -p)" = \
		a9092fb3b9a16ea0a22218021642e8eb ]
}
check "enc_pbkdf2_is_right_with_default_beside_us" password "${both[@]}"

# Without a key derivation there is no cipher text and no crash.
check "enc_pbkdf2_is_refused_alone" refused "aes-256-cbc\|unsupported" enc "${alone[@]}" -aes-256-cbc -pbkdf2 -pass pass:hello -S aabbccddeeff0011

# verbose_list BACKEND - the provider's build information ends with the back end.
verbose_list() {
	ours list -providers -verbose "${both[@]}" >"$work/out"
	grep -q "build info: .* for OpenSSL .*, back end $1\$" "$work/out"
}
check "list_of_providers_tells_the_back_end" verbose_list "$usual"

random_bytes() {
	[[ $(ours rand "$@" 16) =~ ^[0-9a-f]{32}$ ]]
}
check "rand_is_served_by_default_beside_us" random_bytes "${both[@]}" -hex
check "rand_is_refused_alone" refused "unsupported\|random" rand "${alone[@]}" -hex 16

# seeded SEED - a configuration whose random numbers are seeded by that source.
seeded() {
	cat >"$work/seed.cnf" <<-EOF
		openssl_conf = init
		[init]
		providers = providers
		random = random
		[providers]
		default = active
		afalgbatch = active
		[active]
		activate = 1
		[random]
		seed = $1
	EOF
	OPENSSL_CONF=$work/seed.cnf random_bytes -hex
}

seeded_by_kernel() {
	seeded AFALG-SEED && served sync
}

not_asked() {
	seeded SEED-SRC && grep -q 'counters: messages 0 ' "$work/err"
}
check "kernel_seeds_nobody_who_did_not_ask" not_asked
if in_kernel; then
	check "rand_is_seeded_by_the_kernel_when_asked" seeded_by_kernel
else
	check "rand_without_af_alg_takes_openssls_own_seed" seeded AFALG-SEED
fi
finish
