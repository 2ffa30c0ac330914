#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# counts.sh - what a message costs through an asynchronous driver, as bench/counts
# counts it: with many in flight next to no system calls and no sleep. Counts, and
# no times: the machine is emulated.
set -eu -o pipefail
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

program=${BUILD_DIR:-build}/bench/counts
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# table ARGUMENT... - into $work/table; every line goes to the log as well.
table() {
	"$program" --backend uring "$@" >"$work/table"
	sed 's/^#*/# /' "$work/table"
}

# each CONDITION - does it hold in every line, of which there must be one? In the
# condition the columns have names.
each() {
	awk '!/^#/ {
			lines++
			calls = $5; sleeps = $6; failed = $12; by_soft = $13
			if (!('"$1"')) { print "# not so: " $0; bad = 1 }
		}
		END { exit bad || !lines }' "$work/table"
}

few_calls_and_sleeps() {
	table --algorithm "$1" --size 16,1024 --depth 128 --messages 2560
	each "calls <= 0.05 && sleeps <= 0.05 && failed == 0 && by_soft == 0"
}

nothing_fails() {
	table --algorithm "$1" --size 16,1024 --depth 1024 --messages 2048
	each "failed == 0 && by_soft == 0"
}

pcrypt='aead:pcrypt(generic-gcm-aesni)'
if [ -z "${AFALGBATCH_EXPECT_KERNEL-}" ]; then
	skip "pcrypt_128_in_flight" "needs AF_ALG"
	skip "pcrypt_1024_in_flight" "needs AF_ALG"
else
	check "pcrypt_128_in_flight_cost_a_twentieth_of_a_call_and_of_a_sleep_each" \
		few_calls_and_sleeps "$pcrypt"
	check "pcrypt_1024_in_flight_all_succeed_by_the_kernel" nothing_fails "$pcrypt"
	check "sha256_1024_in_flight_all_succeed_by_the_kernel" nothing_fails hash:sha256
fi
finish
