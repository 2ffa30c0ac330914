#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test-encrypt-records.sh - examples/encrypt-records there and back, against the
# openssl command, and with its output damaged in every way. Prints TAP; runs on the
# host and in a guest, from the top folder, with the program from BUILD_DIR
# (build/). With AFALGBATCH_EXPECT_KERNEL=1 the kernel must serve.
set -eu -o pipefail
export LC_ALL=C
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

program=${BUILD_DIR:-build}/examples/encrypt-records
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

in_kernel() { [ -n "${AFALGBATCH_EXPECT_KERNEL-}" ]; }

# Bytes of the format: what stands before the records, and around each text.
readonly FRONT=20 HEADER=4 TAG=16 TEXT=16384
readonly RECORD=$((HEADER + TEXT + TAG))

head -c 32 /dev/urandom >"$work/key"
head -c 32 /dev/urandom >"$work/other-key"
head -c $((5 << 20)) /dev/urandom >"$work/plain"

# seal SIZE [OPTION...] - encrypts the first SIZE bytes of plain into $work/sealed.
seal() {
	local size=$1
	shift
	head -c "$size" "$work/plain" >"$work/part"
	"$program" "$@" "$work/key" "$work/part" >"$work/sealed"
}

# open_sealed STATUS [FILE] - decrypts into $work/opened.
open_sealed() {
	local status=0
	"$program" -d "$work/key" "${2-$work/sealed}" >"$work/opened" 2>"$work/err" || status=$?
	[ "$status" = "$1" ] || {
		echo "status $status, not $1"
		return 1
	}
}

# slice FILE OFFSET [LEN] - so many bytes of it, else all the rest.
slice() {
	dd if="$1" bs=65536 skip="$2" ${3+count="$3"} iflag=skip_bytes,count_bytes status=none
}

# ---- There and back ---------------------------------------------------------

round_trip() {
	local records=$((($1 + TEXT - 1) / TEXT))
	[ "$records" != 0 ] || records=1
	seal "$1"
	[ "$(stat -c %s "$work/sealed")" = $((FRONT + $1 + records * (HEADER + TAG))) ]
	open_sealed 0
	cmp "$work/opened" "$work/part"
	[ ! -s "$work/err" ]
}
for size in 0 1 15 16 16383 16384 16385 32767 32768 32769 5242880; do
	check "file_of_${size}_bytes_comes_back" round_trip "$size"
done

by_depth() {
	local depth
	for depth in 1 3 64 4096; do
		seal 1000000 -n "$depth"
		"$program" -d -n "$((depth % 5 + 1))" "$work/key" "$work/sealed" | cmp - "$work/part"
	done
}
check "any_number_in_flight_gives_the_same_file" by_depth

by_key() {
	local len
	for len in 16 24 32; do
		head -c "$len" "$work/other-key" >"$work/this-key"
		"$program" "$work/this-key" <"$work/other-key" | "$program" -d "$work/this-key" >"$work/opened"
		cmp "$work/opened" "$work/other-key"
	done
}
check "keys_of_16_24_and_32_bytes_serve_a_pipe" by_key

salted() {
	seal 100
	cp "$work/sealed" "$work/first"
	seal 100
	! cmp -s "$work/first" "$work/sealed"
}
check "two_files_of_one_text_differ" salted

counters() {
	seal 5242880 -v 2>"$work/err"
	echo "# $(sed 's/^encrypt-records: //' "$work/err")"
	if in_kernel; then
		grep -q 'records 320: uring 320, ' "$work/err"
		[ "$(sed -n 's/.*in flight at most \([0-9]*\)$/\1/p' "$work/err")" -ge 200 ]
		[ "$(sed -n 's/.*system calls \([0-9]*\),.*/\1/p' "$work/err")" -lt 160 ]
	else
		grep -q 'records 320: ' "$work/err"
	fi
}
check "hundreds_are_in_flight_in_few_system_calls" counters

# ---- What others compute ----------------------------------------------------

hex() { od -An -v -tx1 "$@" | tr -d ' \n'; }

# nonce NUMBER - of that record of $work/sealed, for numbers below 256.
nonce() {
	local salt last
	salt=$(hex -j 8 -N 12 "$work/sealed")
	last=$((16#${salt:22} ^ $1))
	printf '%s%02x' "${salt:0:22}" "$last"
}

# GCM is CTR from the nonce's second block on.
equals_ctr() {
	local number=$1
	seal 100000
	slice "$work/sealed" $((FRONT + number * RECORD + HEADER)) $TEXT >"$work/text"
	openssl enc -d -aes-256-ctr -K "$(hex "$work/key")" -iv "$(nonce "$number")00000002" \
		-in "$work/text" -out "$work/got"
	slice "$work/part" $((number * TEXT)) $TEXT | cmp - "$work/got"
}
check "first_text_is_what_openssl_decrypts" equals_ctr 0
check "sixth_text_is_what_openssl_decrypts" equals_ctr 5

# The tag of a record without text is the GMAC of its header.
equals_gmac() {
	local tag
	seal 0
	[ "$(hex -j $FRONT -N $HEADER "$work/sealed")" = 80000000 ]
	slice "$work/sealed" $FRONT $HEADER >"$work/header"
	tag=$(openssl mac -macopt cipher:AES-256-GCM -macopt "hexkey:$(hex "$work/key")" \
		-macopt "hexiv:$(nonce 0)" -in "$work/header" GMAC | tr A-F a-f)
	[ "$(hex -j $((FRONT + HEADER)) "$work/sealed")" = "$tag" ]
}
check "tag_of_an_empty_file_is_openssls_gmac" equals_gmac

# ---- What is not as it was --------------------------------------------------

# flip OFFSET - changes one bit of a copy of $work/sealed.
flip() {
	local byte
	cp "$work/sealed" "$work/flipped"
	byte=$(hex -j "$1" -N 1 "$work/sealed")
	# shellcheck disable=SC2059
	printf "\\x$(printf %02x $((16#$byte ^ 4)))" |
		dd of="$work/flipped" bs=1 seek="$1" conv=notrunc status=none
}

# opens_until NUMBER FILE - record NUMBER is refused, and those before are all there is.
opens_until() {
	open_sealed 1 "$2"
	grep -q "^encrypt-records: record $1: " "$work/err"
	[ "$(wc -l <"$work/err")" = 1 ]
	[ "$(stat -c %s "$work/opened")" = $(($1 * TEXT)) ]
	cmp -n $(($1 * TEXT)) "$work/opened" "$work/part"
}

altered() {
	local number offset start
	seal 100000
	for number in 0 3 6; do
		start=$((FRONT + number * RECORD))
		# The header, the text, and in the last record the tag.
		for offset in 3 4 $((100000 - 6 * TEXT + HEADER + TAG - 1)); do
			flip $((start + offset))
			opens_until "$number" "$work/flipped"
		done
	done
}
check "altered_record_is_named_and_nothing_of_it_written" altered

altered_salt() {
	seal 100000
	flip 12
	opens_until 0 "$work/flipped"
}
check "altered_salt_is_noticed" altered_salt

cut_off() {
	local len
	seal 50000
	for len in 0 1 19; do
		head -c "$len" "$work/sealed" >"$work/cut"
		open_sealed 1 "$work/cut"
		grep -q 'is no file of records' "$work/err"
		[ ! -s "$work/opened" ]
	done
	for len in 0 1 4 16403; do
		head -c $((FRONT + len)) "$work/sealed" >"$work/cut"
		opens_until 0 "$work/cut"
	done
	for len in 0 3 5 100; do
		head -c $((FRONT + 2 * RECORD + len)) "$work/sealed" >"$work/cut"
		opens_until 2 "$work/cut"
	done
	head -c -1 "$work/sealed" >"$work/cut"
	opens_until 3 "$work/cut"
}
check "file_cut_off_anywhere_is_noticed" cut_off

# A file that ends on a record's border would look whole but for the last flag.
lengthened() {
	seal 32768
	cp "$work/sealed" "$work/longer"
	tail -c "$RECORD" "$work/sealed" >>"$work/longer"
	opens_until 1 "$work/longer"
}
check "something_behind_the_last_record_is_noticed" lengthened

exchanged() {
	seal 100000
	{
		slice "$work/sealed" 0 $((FRONT + RECORD))
		slice "$work/sealed" $((FRONT + 2 * RECORD)) $RECORD
		slice "$work/sealed" $((FRONT + RECORD)) $RECORD
		slice "$work/sealed" $((FRONT + 3 * RECORD))
	} >"$work/mixed"
	opens_until 1 "$work/mixed"
}
check "exchanged_records_are_noticed" exchanged

wrong_key() {
	local status=0
	seal 100000
	"$program" -d "$work/other-key" "$work/sealed" >"$work/opened" 2>"$work/err" || status=$?
	[ "$status" = 1 ] && [ ! -s "$work/opened" ]
	grep -q '^encrypt-records: record 0: it is altered, or the key is another one$' "$work/err"
}
check "wrong_key_is_named_and_nothing_written" wrong_key

no_records() {
	open_sealed 1 "$work/plain"
	grep -q 'is no file of records' "$work/err"
}
check "any_other_file_is_refused" no_records

# ---- Use --------------------------------------------------------------------

# fails STATUS TEXT COMMAND...
fails() {
	local expected=$1 text=$2 status=0
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ "$status" = "$expected" ] && grep -q "$text" "$work/err"
}

wrong_use() {
	fails 2 '^usage: ' "$program"
	fails 2 '^usage: ' "$program" -x "$work/key"
	fails 2 '^usage: ' "$program" -n 0 "$work/key"
	fails 2 '^usage: ' "$program" -n 4097 "$work/key"
	fails 2 '^usage: ' "$program" "$work/key" "$work/plain" "$work/plain"
	fails 1 'absent: No such file' "$program" "$work/absent"
	fails 1 'absent: No such file' "$program" "$work/key" "$work/absent"
	fails 1 'plain: Invalid argument' "$program" "$work/plain"
	fails 1 'null: Invalid argument' "$program" /dev/null
	fails 1 'input: Is a directory' "$program" "$work/key" "$work"
}
check "wrong_use_is_refused" wrong_use

full() {
	local status=0
	"$program" "$work/key" "$work/plain" >/dev/full 2>"$work/err" || status=$?
	[ "$status" = 1 ] && grep -q 'standard output: No space left' "$work/err"
	status=0
	"$program" "$work/key" </dev/null >/dev/full 2>"$work/err" || status=$?
	[ "$status" = 1 ] && grep -q 'standard output: No space left' "$work/err"
}
check "full_disk_is_noticed" full

leaks() {
	local status=0
	seal 100000
	flip 50000
	valgrind -q --leak-check=full --error-exitcode=99 --log-file="$work/valgrind" \
		"$program" -d "$work/key" "$work/flipped" >"$work/opened" 2>"$work/err" || status=$?
	[ "$status" = 1 ] || {
		cat "$work/valgrind"
		return 1
	}
}
# Valgrind of Debian 12 knows no io_uring well enough: on the host alone.
if ! in_kernel && command -v valgrind >/dev/null; then
	check "failure_leaks_nothing" leaks
else
	skip "failure_leaks_nothing" "needs valgrind, on the host"
fi

finish
