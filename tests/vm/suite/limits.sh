#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# limits.sh - the unit test of small socket buffers where they are small: a message
# many times as long as what a socket may hold must pass. In a guest, as its root.
set -eu -o pipefail
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

program=${BUILD_DIR:-build}/tests/limits
key=/proc/sys/net/core/wmem_default

small_buffers() {
	local before status=0

	before=$(<"$key")
	echo 4608 >"$key"
	timeout 300 "$program" --filter 'limits/small_socket_buffers*' || status=$?
	echo "$before" >"$key"
	return "$status"
}

name=wmem_default_of_4608_bytes_lets_a_mebibyte_through
if [ -z "${AFALGBATCH_VM-}" ]; then
	skip "$name" "changes the system: only in a virtual machine"
elif [ ! -x "$program" ]; then
	skip "$name" "the unit tests are not built"
else
	check "$name" small_buffers
fi
finish
