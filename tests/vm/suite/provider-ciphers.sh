#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# provider-ciphers.sh - the openssl command's ciphers with the provider: files, and
# TLS over loopback. C2, C3, C19, G2, I9 and T2 are cases that other projects' users
# met. Runs on the host and in a guest, from the top folder.
set -eu -o pipefail
export LC_ALL=C
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

work=$(mktemp -d)
server=
cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
export AFALGBATCH_DEBUG=1

in_kernel() { [ -n "${AFALGBATCH_EXPECT_KERNEL-}" ]; }

both=(-provider afalgbatch -provider default)
zeros=00000000000000000000000000000000

ours() {
	openssl "$@" 2>"$work/err"
}

# Did the kernel do every text that was long enough?
served() {
	! in_kernel || grep -q "^afalgbatch: counters: messages \([1-9][0-9]*\) (uring \1," "$work/err"
}

# enc_zeros BYTES SHA256 - C2, C3: the first bytes of the digest of the cipher text.
enc_zeros() {
	head -c "$1" /dev/zero >"$work/plain"
	ours enc -aes-128-cbc -K $zeros -iv $zeros "${both[@]}" -in "$work/plain" -out "$work/cipher"
	served
	[[ $(sha256sum <"$work/cipher") == "$2"* ]]
	ours enc -d -aes-128-cbc -K $zeros -iv $zeros "${both[@]}" -in "$work/cipher" -out "$work/again"
	served
	cmp "$work/plain" "$work/again"
}
check "enc_cbc_of_65537_bytes" enc_zeros 65537 e03859310faf15d2
check "enc_cbc_of_100001_bytes" enc_zeros 100001 872b3a3efa4235e9
check "enc_cbc_of_256_KiB" enc_zeros 262144 bc9c77384a4649de

head -c 300007 /dev/urandom >"$work/data"

# enc_as_default CIPHER KEY [IV] - as without the provider, and back.
enc_as_default() {
	local arguments=(-"$1" -K "$2" ${3:+-iv "$3"})
	openssl enc "${arguments[@]}" -in "$work/data" -out "$work/want"
	ours enc "${arguments[@]}" "${both[@]}" -in "$work/data" -out "$work/got"
	served
	cmp "$work/want" "$work/got"
	ours enc -d "${arguments[@]}" "${both[@]}" -in "$work/got" -out "$work/again"
	served
	cmp "$work/data" "$work/again"
}
check "enc_ctr_is_as_by_default" enc_as_default aes-256-ctr "$zeros$zeros" ffffffffffffffffffffffffffffffff
check "enc_ecb_is_as_by_default" enc_as_default aes-192-ecb "${zeros}0011223344556677"
check "enc_des3_is_as_by_default" enc_as_default des-ede3-cbc 0123456789abcdef23456789abcdef01456789abcdef0123 0011223344556677
check "enc_camellia_is_as_by_default" enc_as_default camellia-128-cbc $zeros $zeros

# C19: FIPS 197
one_block() {
	[ "$(printf '\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff' |
		ours enc -aes-128-ecb -nopad -K 000102030405060708090a0b0c0d0e0f "${both[@]}" | xxd -p)" = \
		69c4e0d86a7b0430d8cdb78070b4c55a ]
}
check "enc_ecb_of_the_standards_block" one_block

# I9
half_a_block() {
	local status=0
	printf 12345 | ours enc -aes-256-cbc -nopad -K $zeros -iv $zeros "${both[@]}" >/dev/null || status=$?
	[ "$status" = 1 ] && grep -q "wrong final block length" "$work/err"
}
check "enc_without_padding_refuses_half_a_block" half_a_block

# G2
speed_of_theirs() {
	ours speed "${both[@]}" -seconds 1 -bytes 64 -evp aes-128-ofb >/dev/null
}
check "speed_of_a_cipher_that_we_lack_is_defaults" speed_of_theirs

# speed_of_jobs ARGUMENT... - 64 jobs of a thread, which the kernel has at once.
speed_of_jobs() {
	ours speed "${both[@]}" -seconds 1 -elapsed -bytes 16384 -async_jobs 64 "$@" >/dev/null
	! in_kernel || grep -q "^afalgbatch: counters: .*, in flight at most 64$" "$work/err"
}
check "speed_of_gcm_has_64_jobs_in_flight" speed_of_jobs -evp aes-128-gcm
check "speed_of_gcm_records_has_64_jobs_in_flight" speed_of_jobs -evp aes-128-gcm -aead
check "speed_of_cbc_decryption_has_64_jobs_in_flight" speed_of_jobs -evp aes-128-cbc -decrypt

openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -days 2 \
	-keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null

# A port that nothing listens on.
free_port() {
	local port=20000
	while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
	echo $port
}

# start_server ARGUMENT... - one that serves files, with our provider.
start_server() {
	port=$(free_port)
	(cd "$work" && exec openssl s_server "${both[@]}" -accept "127.0.0.1:$port" \
		-cert cert.pem -key key.pem -WWW "$@" >/dev/null 2>"$work/server-err") &
	server=$!
	for _ in $(seq 300); do
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
		sleep 0.1
	done
	return 1
}

stop_server() {
	kill "$server"
	wait "$server" || true
	server=
}

# tls ARGUMENT... - fetches the file with our provider on both sides.
tls() {
	local status=0
	start_server "$@"
	printf 'GET /data HTTP/1.0\r\n\r\n' |
		ours s_client "${both[@]}" -connect "127.0.0.1:$port" -ign_eof -quiet "$@" >"$work/answer" || status=$?
	stop_server
	tail -c 300007 "$work/answer" | cmp - "$work/data"
}
check "tls_1_2_of_aes_cbc_with_encrypt_then_mac" tls -tls1_2 -cipher AES128-SHA
check "tls_1_2_of_aes_cbc_with_mac_then_encrypt" tls -tls1_2 -cipher AES256-SHA256 -no_etm
check "tls_1_2_of_aes_gcm" tls -tls1_2 -cipher AES128-GCM-SHA256
# Of libssl's ways, this is the one that the kernel serves.
tls_by_kernel() {
	tls "$@"
	! in_kernel || grep -q "^afalgbatch: gcm(aes): back end uring" "$work/err"
	! in_kernel || grep -q "^afalgbatch: gcm(aes): back end uring" "$work/server-err"
}
check "tls_1_3_of_aes_gcm_is_the_kernels" tls_by_kernel -tls1_3 -ciphersuites TLS_AES_256_GCM_SHA384
check "tls_1_2_of_aes_ccm" tls -tls1_2 -cipher AES128-CCM
check "tls_1_3_of_chacha20_poly1305" tls -tls1_3 -ciphersuites TLS_CHACHA20_POLY1305_SHA256

# T5: a client that goes away in mid-transfer does not hang a server with jobs.
server_with_jobs_ends() {
	local status=0
	head -c 20000000 /dev/zero >"$work/long"
	start_server -async -tls1_3
	(printf 'GET /long HTTP/1.0\r\n\r\n'; sleep 5) |
		timeout 2 openssl s_client -connect "127.0.0.1:$port" -quiet 2>/dev/null | head -c 100000 >/dev/null || true
	printf 'GET /data HTTP/1.0\r\n\r\n' |
		ours s_client "${both[@]}" -async -connect "127.0.0.1:$port" -ign_eof -quiet >"$work/answer" || status=$?
	tail -c 300007 "$work/answer" | cmp - "$work/data"
	kill "$server"
	timeout 10 tail --pid="$server" -f /dev/null
	wait "$server" || true
	server=
	[ "$status" = 0 ]
}
check "tls_server_with_jobs_outlives_a_lost_client_and_ends" server_with_jobs_ends
finish
