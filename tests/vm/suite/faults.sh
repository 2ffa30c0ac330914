#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# faults.sh - every call of the library made to fail in turn; see tests/faults/run,
# which prints TAP itself. Runs on the host and in a guest, from the top folder.
set -eu -o pipefail
exec tests/faults/run
