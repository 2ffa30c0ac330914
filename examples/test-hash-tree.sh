#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test-hash-tree.sh - examples/hash-tree against find and coreutils. Prints TAP;
# runs on the host and in a guest, from the top folder, with the program from
# BUILD_DIR (build/). With AFALGBATCH_EXPECT_KERNEL=1 the kernel must serve.
set -eu -o pipefail
export LC_ALL=C
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

# check calls where `set -e` has no effect: its functions join with &&.

program=${BUILD_DIR:-build}/examples/hash-tree
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
tree=$work/tree

in_kernel() { [ -n "${AFALGBATCH_EXPECT_KERNEL-}" ]; }

# In a guest opening files is slow, and the machine around it may be busy.
if in_kernel; then files=600; else files=1200; fi

# Odd files of up to 40 kB, and two that need a stream.
make_tree() {
	mkdir -p "$tree/leer und voll" "$tree/größe" "$tree/deep/er/and/deeper"
	# In one process: starting a thousand takes minutes in a guest.
	awk -v tree="$tree" -v files="$files" 'BEGIN {
		split("/|/leer und voll/|/größe/|/deep/er/and/deeper/", folder, "|")
		split("empty |ünïcode-| two  spaces |file", name, "|")
		while (length(body) < 50000)
			body = body "line " length(body) "\n"
		for (i = 0; i < files - 2; i++) {
			kind = i % 7 < 3 ? i % 7 : 3
			size = kind == 0 ? 0 : kind == 1 ? i % 130 : i * 31 + 1
			file = tree folder[i % 4 + 1] name[kind + 1] i
			printf "%s", substr(body, i + 1, size) >file
			close(file)
		}
	}'
	head -c 1048577 /dev/urandom >"$tree/just too long"
	head -c 3141592 /dev/urandom >"$tree/größe/long"
	ln -s "just too long" "$tree/link"
	mkfifo "$tree/fifo"
}
make_tree

# What coreutils say of the tree, sorted by name.
for algorithm in md5 sha1 sha256 sha512; do
	find "$tree" -type f -print0 | xargs -0 "${algorithm}sum" | sort -k2 >"$work/$algorithm"
done

hash_tree() {
	"$program" "$@" >"$work/got" 2>"$work/err"
}

same_as() {
	local algorithm=$1
	shift
	hash_tree -a "$algorithm" "$@" "$tree" &&
		sort -k2 "$work/got" | cmp - "$work/$algorithm" &&
		[ ! -s "$work/err" ]
}

all_files() {
	[ "$(find "$tree" -type f | wc -l)" = "$files" ] && same_as sha256 &&
		[ "$(wc -l <"$work/got")" = "$files" ]
}
check "tree_of_many_files_equals_sha256sum" all_files
for algorithm in md5 sha1 sha512; do
	check "tree_equals_${algorithm}sum" same_as "$algorithm"
done
for depth in 1 7 4096; do
	check "tree_with_${depth}_in_flight_equals_sha256sum" same_as sha256 -n "$depth"
done

walk_order() {
	hash_tree -n 3 "$tree" && cp "$work/got" "$work/first" &&
		hash_tree -n 900 "$tree" && cmp "$work/got" "$work/first"
}
check "order_of_lines_does_not_depend_on_depth" walk_order

# counter NAME - its number in $work/err.
counter() {
	sed -n "s/^hash-tree: .*\<$1 \([0-9]*\).*/\1/p" "$work/err"
}

counters() {
	hash_tree -v "$tree" && cat "$work/err" &&
		[ "$(counter messages)" = "$files" ] || return
	if ! in_kernel; then
		[ $(($(counter uring) + $(counter aio) + $(counter sync) + $(counter soft))) = "$files" ]
		return
	fi
	echo "# $files files: $(counter "system calls") system calls," \
		"$(counter "in flight at most") in flight at most"
	[ "$(counter uring)" = "$files" ] && [ "$(counter "system calls")" -lt $((files / 5)) ] &&
		[ "$(counter "in flight at most")" -ge 500 ]
}
check "counters_account_for_every_file_and_few_system_calls" counters

mkdir "$work/odd"
printf x >"$work/odd/"$'new\nline'
printf y >"$work/odd/"$'back\\slash'
printf z >"$work/odd/"$'carriage\rreturn'
odd_names() {
	find "$work/odd" -type f -print0 | xargs -0 sha256sum | sort >"$work/expected"
	hash_tree "$work/odd" && sort "$work/got" | cmp - "$work/expected"
}
check "names_with_line_breaks_are_escaped_as_sha256sum_does" odd_names

checkable() {
	hash_tree "$work/odd" && sha256sum --quiet -c "$work/got"
}
check "sha256sum_can_check_the_output" checkable

missing() {
	local status=0
	hash_tree "$work/absent" || status=$?
	[ "$status" = 1 ] && [ ! -s "$work/got" ] &&
		grep -q '^hash-tree: .*/absent: No such file' "$work/err"
}
check "missing_folder_is_a_clear_error" missing

# unreadable COMMAND... - as somebody who may not read every file.
unreadable() {
	local status=0
	mkdir -p "$work/some/dir" && printf a >"$work/some/a" &&
		printf b >"$work/some/dir/b" && chmod 0 "$work/some/a" || return
	"$@" "$program" "$work/some" >"$work/got" 2>"$work/err" || status=$?
	[ "$status" = 1 ] && [ "$(wc -l <"$work/got")" = 1 ] &&
		grep -q '/some/a: Permission denied$' "$work/err"
}
drop='setpriv --bounding-set=-all --inh-caps=-all'
if [ "$(id -u)" != 0 ]; then
	check "unreadable_file_is_told_and_the_others_are_hashed" unreadable
elif $drop setpriv --no-new-privs true 2>/dev/null; then
	# shellcheck disable=SC2086
	check "unreadable_file_is_told_and_the_others_are_hashed" unreadable $drop
else
	skip "unreadable_file_is_told_and_the_others_are_hashed" "root may read every file"
fi

wrong_use() {
	local status arguments
	for arguments in "" "-n 0 x" "-n 4097 x" "-x -n 5 x" "x y"; do
		status=0
		# shellcheck disable=SC2086
		hash_tree $arguments || status=$?
		[ "$status" = 2 ] && grep -q '^usage:' "$work/err" || return
	done
	status=0
	hash_tree -a nonsense "$tree" || status=$?
	[ "$status" = 1 ] && grep -q '^hash-tree: nonsense: ' "$work/err"
}
check "wrong_use_is_refused" wrong_use

full() {
	local status=0
	"$program" "$tree" >/dev/full 2>"$work/err" || status=$?
	[ "$status" = 1 ] && grep -q 'standard output: No space left' "$work/err"
}
check "full_disk_is_noticed" full

leaks() {
	local status=0
	valgrind -q --leak-check=full --error-exitcode=99 \
		--log-file="$work/valgrind" "$program" -n 50 "$tree/größe" \
		>"$work/got" 2>"$work/err" || status=$?
	[ "$status" = 0 ] || { cat "$work/valgrind"; return 1; }
}
# Valgrind of Debian 12 knows no io_uring well enough: on the host alone.
if ! in_kernel && command -v valgrind >/dev/null; then
	check "leaks_nothing" leaks
else
	skip "leaks_nothing" "needs valgrind, on the host"
fi

finish
