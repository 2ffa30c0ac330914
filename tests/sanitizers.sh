# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# sanitizers.sh - how a program built with sanitizers, or under valgrind, is run and
# judged. Sourced, with the top folder as the working folder.

# A finding ends the program, and its status is none that it could have itself. What
# has been freed is kept from reuse.
export ASAN_OPTIONS=exitcode=99:detect_stack_use_after_return=1
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan-suppressions:print_suppressions=0
export UBSAN_OPTIONS=halt_on_error=1:exitcode=99:print_stacktrace=1
export TSAN_OPTIONS=exitcode=99:halt_on_error=1:die_after_fork=0:suppressions=$PWD/tests/tsan-suppressions

# nothing_found LOG COMMAND... - ends with 0, and no sanitizer has said a word: a
# child that the program does not ask after may have died of a finding. What to show
# of another end goes to stdout.
nothing_found() {
	local log=$1 status=0
	shift
	timeout -k 10 400 "$@" >"$log" 2>&1 </dev/null || status=$?
	if [ "$status" -eq 0 ] && ! grep -qE 'ERROR: |WARNING: ThreadS|runtime error:|^==[0-9]+== ' "$log"; then
		return
	fi
	echo "# status $status"
	grep -vE '^(ok|1\.\.)' "$log" | head -n 80 | sed 's/^/# /'
	return 1
}
