#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# examples.sh - the tests of the programs in examples/, one script after the other,
# each test with its script's name. Runs on the host and in a guest, from the top
# folder.
set -eu -o pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What follows a script's plan, or a plan that does not come, is a failure.
# shellcheck disable=SC2016
retell='
/^1\.\.[0-9]+$/ { plan = substr($0, 4) + 0; next }
/^(not )?ok / { heard++; n++; sub(/ok [0-9]+ - /, "ok " n " - " name ": ") }
{ print }
END {
	if (status != 0 || plan != heard) {
		n++
		print "not ok " n " - " name ": ended with status " status ", " \
			heard + 0 " of " plan " tests told"
	}
	print n >count
}'

number=0
for script in examples/test-*.sh; do
	name=${script#examples/test-}
	status=0
	"$script" >"$work/tap" || status=$?
	awk -v name="${name%.sh}" -v n="$number" -v status="$status" -v plan=-1 \
		-v count="$work/count" "$retell" "$work/tap"
	number=$(cat "$work/count")
done
echo "1..$number"
