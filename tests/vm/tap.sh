# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# tap.sh - for the scripts in suite/: runs one check after the other and prints
# the results in TAP. Sourced.

tap_number=0

# check NAME COMMAND [ARGUMENT]... - what it printed is shown when it fails.
check() {
	local name=$1 output status
	shift
	tap_number=$((tap_number + 1))
	# Not in a list with ||, where bash would ignore set -e all the way down.
	set +e
	output=$(set -e; "$@" 2>&1)
	status=$?
	set -e
	if [ "$status" = 0 ]; then
		echo "ok $tap_number - $name"
		grep '^# ' <<<"$output" || true
		return
	fi
	echo "not ok $tap_number - $name"
	echo "# status $status"
	echo "# ${output//$'\n'/$'\n'# }"
	if [ -s "${work-}/err" ]; then
		sed 's/^/# /' "$work/err"
	fi
}

# skip NAME WHY
skip() {
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1 # SKIP $2"
}

# finish - the plan, last of all.
finish() {
	echo "1..$tap_number"
}
