#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# model.sh - random programs against the library, by each back end and by all of
# them mixed; see tests/model/model.c. Together, host and guests, more than
# 100,000 ops. TEST_MODEL_SEED=N makes other programs of it.
set -eu -o pipefail

program=${BUILD_DIR:-build}/tests/model_test
seed=${TEST_MODEL_SEED:-0}
number=0

# model OPS [ARGUMENT]... - the program's one test gets the next number.
model() {
	local ops=$1 output status=0
	shift
	number=$((number + 1))
	# Not the same programs again for the next back end.
	seed=$((seed + 1))
	output=$("$program" --seed "$seed" --ops "$ops" "$@" 2>&1) || status=$?
	if grep -qE '^(not )?ok 1 ' <<<"$output"; then
		sed -n -E "s/^((not )?ok) 1 /\1 $number /; /^(not )?ok |^#/p" <<<"$output"
	else
		echo "not ok $number - random programs ($*) ended with status $status"
		echo "# seed $seed, $ops ops"
		tail -n 30 <<<"$output" | sed 's/^/# /'
	fi
}

# The emulated machine is slow, and software the same there as here.
if [ -n "${AFALGBATCH_EXPECT_KERNEL-}" ]; then
	many=15000 few=2000
else
	many=20000 few=20000
fi
for backend in uring aio sync; do
	model "$many" --backend "$backend"
done
model "$few" --backend auto
model "$few" --backend soft
model "$many"
echo "1..$number"
