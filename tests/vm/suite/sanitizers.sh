#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# sanitizers.sh - the library's ways through a real AF_ALG under the sanitizers, by
# the builds that tests/run-sanitizers has left; it runs the rest on this machine.
set -eu -o pipefail

builds=${BUILD_DIR:-build}/sanitizers

if [ -z "${AFALGBATCH_EXPECT_KERNEL-}" ]; then
	echo "1..0 # SKIP tests/run-sanitizers does it on this machine"
	exit
fi
if [ ! -x "$builds/asan/tests/model_test" ] || [ ! -x "$builds/tsan/tests/model_test" ]; then
	echo "1..0 # SKIP no builds with sanitizers: ./check makes them, --quick does not"
	exit
fi
# shellcheck source=tests/sanitizers.sh
. tests/sanitizers.sh
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT

clean() {
	check "$1" nothing_found "$log" "${@:2}"
}

for backend in uring aio sync; do
	clean "address_and_undefined: random programs by $backend" \
		"$builds/asan/tests/model_test" --ops 1500 --backend "$backend"
done
clean "address_and_undefined: threads" "$builds/asan/tests/model_threads" --no-fork --rounds 3
# Lanes without end, rings refused, results astray.
for program in queue_uring queue_aio queue_order; do
	clean "address_and_undefined: unit/$program" "$builds/asan/tests/$program" --jobs 2
done
clean "thread: random programs" "$builds/tsan/tests/model_test" --ops 1500
clean "thread: threads" "$builds/tsan/tests/model_threads" --no-fork --rounds 3
finish
