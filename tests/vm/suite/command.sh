#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# command.sh - the command afalgbatch as its users type it: what info tells of the
# machine, to people and to programs, and how wrong use and lost output end.
# Runs on the host and in a guest, from the top folder.
set -eu -o pipefail
export LC_ALL=C
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=${BUILD_DIR:-build}/tools/afalgbatch

in_kernel() { [ -n "${AFALGBATCH_EXPECT_KERNEL-}" ]; }

# run STATUS ARGUMENT... - the command, which has to end with that status.
run() {
	local expected=$1 status=0
	shift
	"$program" "$@" >"$work/out" 2>"$work/err" || status=$?
	[ "$status" = "$expected" ] || {
		echo "status $status, not $expected: $*"
		return 1
	}
}

# json FILTER - is it true of the JSON in $work/out?
json() {
	[ "$(jq "$1" "$work/out")" = true ] || {
		echo "not so: $1"
		cat "$work/out"
		return 1
	}
}

# ---- The command ------------------------------------------------------------

version() {
	run 0 --version
	grep -qx 'afalgbatch [0-9]*\.[0-9]*\.[0-9]*' "$work/out"
	[ ! -s "$work/err" ]
}
check "version_is_told" version

help_text() {
	run 0 --help
	grep -q '^usage: afalgbatch COMMAND' "$work/out"
	grep -q '^  info ' "$work/out"
	run 0 info --help
	grep -q '^usage: afalgbatch info ' "$work/out"
	grep -q -e '--json' "$work/out"
	[ ! -s "$work/err" ]
}
check "help_names_every_command_and_its_options" help_text

wrong_use() {
	local use
	local -a arguments
	while read -r use; do
		read -ra arguments <<<"$use"
		run 2 "${arguments[@]}"
		[ ! -s "$work/out" ]
		grep -q '^afalgbatch: ' "$work/err"
		grep -q '^usage: afalgbatch ' "$work/err"
	done <<-'END'

		nonsense
		--nonsense
		info --nonsense
		info -x
		info --json=yes
		info sha256
		info hash:
		info cipher:aes
		info hash:sha256 :x
	END
	run 2 info "hash:$(printf 'a%.0s' {1..64})"
	run 2 info "hash:$(printf 'a%.0s' {1..200})"
	run 2 info -x
	grep -q '"-x"' "$work/err"
	run 2 info --nonsense
	grep -q '"--nonsense"' "$work/err"
}
check "wrong_use_ends_with_2_and_the_usage_on_stderr" wrong_use

# lost COMMAND - the exit status 1, and a message that matches what follows.
lost() {
	local status=0 expected=$1
	shift
	"$@" 2>"$work/err" || status=$?
	[ "$status" = 1 ]
	grep -q "^afalgbatch: standard output: $expected" "$work/err"
}
# Asking for every algorithm takes a minute: the kernel looks for modules of each.
to_full_disk() { "$program" info hash:sha256 >/dev/full; }
to_nowhere() { "$program" info hash:sha256 >&-; }
to_gone_reader() {
	# The reader ends before the writer starts: no race.
	{
		sleep 1
		"$program" info hash:sha256 || echo $? >"$work/status"
	} | true || true
	return "$(cat "$work/status")"
}
check "full_disk_is_noticed" lost 'No space left' to_full_disk
check "closed_output_is_noticed" lost 'Bad file descriptor' to_nowhere
check "reader_that_went_away_is_noticed" lost 'Broken pipe' to_gone_reader

# ---- info, for people -------------------------------------------------------

for_people() {
	run 0 info
	[ ! -s "$work/err" ]
	grep -q "^afalgbatch .* on Linux $(uname -r), " "$work/out"
	grep -q '^io_uring  *\(yes\|no: \)' "$work/out"
	grep -q '^Linux AIO  *\(yes\|no: \)' "$work/out"
	grep -q '^hash  *sha256 ' "$work/out"
	grep -q '^aead  *gcm(aes) ' "$work/out"
	if in_kernel; then
		grep -q '^AF_ALG  *yes$' "$work/out"
		grep -q '^  aead  *yes$' "$work/out"
		grep -q '^hash  *sha256  *sha256-[a-z0-9]*  *[0-9]*  *no/no  *uring  *yes  *-$' "$work/out"
	elif ! grep -q '^AF_ALG  *yes$' "$work/out"; then
		grep -q '^hash  *sha256  *-  *-  *-  *soft  *yes  *no AF_ALG: ' "$work/out"
	fi
}
check "info_tells_machine_and_algorithms" for_people

odd_to_people() {
	run 0 info $'hash:a\e[31m\n\\x' $'hash:\xff\xc3\xa4'
	grep -qF 'a\x1b[31m\x0a\x5cx' "$work/out"
	grep -qF '\xff\xc3\xa4' "$work/out"
	! LC_ALL=C grep -q '[^ -~]' "$work/out"
}
check "no_byte_of_a_name_reaches_the_terminal_raw" odd_to_people

# ---- info, for programs -----------------------------------------------------

for_programs() {
	run 0 info --json
	[ ! -s "$work/err" ]
	json '.kernel.release == "'"$(uname -r)"'"'
	json '[.version, .types.hash.usable, .io_uring.usable, .aio.usable, .threads] | all(. != null)'
	json '.types | keys == ["aead", "hash", "rng", "skcipher"]'
	json '.algorithms | length >= 12'
	json '.algorithms | all(.kernel.usable or (.kernel.error.name | startswith("E")))'
	json '.algorithms | all(.software or .kernel.usable)'
	json '.algorithms[] | select(.name == "sha512") | .type == "hash" and .digest_size == 64'
	# The kernel's answer and the back end go together.
	json '.algorithms | all(.kernel.usable == (.backend != "soft"))'
	if in_kernel; then
		json '.af_alg.usable and (.types | all(.usable)) and .barred == []'
		json '.algorithms | map(select(.type != "rng" and .kernel.usable)) | length >= 12 and all(.backend == "uring" and .fallback == null and .driver != null)'
	fi
}
check "json_has_the_same_facts" for_programs

odd_to_programs() {
	run 0 info --json $'hash:q"\\\n\t\x01\x7f' $'aead:\xff\xed\xa0\x80\xc0\xaf' \
		$'skcipher:gr\xc3\xb6\xc3\x9fe \xf0\x9f\x94\x91' 'rng:}]' hash:a:b
	json '.algorithms | length == 5 and all(.backend == null and (.kernel.usable | not))'
	json '.algorithms[0].name == "q\"\\\n\t\u0001\u007f"'
	json '.algorithms[2].name == "gr\u00f6\u00dfe \ud83d\udd11"'
	json '.algorithms[3].name == "}]" and .algorithms[4].name == "a:b"'
	# Python is stricter than jq about bytes that are no UTF-8.
	! command -v python3 >/dev/null || python3 -m json.tool "$work/out" >/dev/null
}
check "json_stays_valid_whatever_a_name_holds" odd_to_programs

names=(asynchronous_driver_and_what_af_alg_makes_of_it_are_told
	type_barred_by_modprobe_is_told_with_the_rule
	rule_in_a_hidden_file_or_of_another_module_is_not_told)

asynchronous() {
	run 0 info --json 'aead:pcrypt(generic-gcm-aesni)' 'hash:cryptd(sha256-generic)' hash:sha256-generic
	json '.algorithms[0] | .driver_async and .kernel_async and .driver == "pcrypt(generic-gcm-aesni)"'
	json '.algorithms[1] | .driver_async and .kernel_async == false'
	json '.algorithms[2] | .driver_async == false and .kernel_async == false and .priority == 100'
	run 0 info 'aead:pcrypt(generic-gcm-aesni)'
	grep -q ' yes/yes ' "$work/out"
}

barred() {
	local rules=/etc/modprobe.d/zz-test.conf
	printf '# install algif_rng /bin/false\n\tinstall  algif-aead \\\n  /bin/false\n' >$rules
	printf 'blacklist algif_hash\nalias net-pf-38 off\nalias net-pf-37 off' >>$rules
	rmmod algif_aead
	run 0 info --json hash:sha256 'aead:gcm(aes)'
	json '.types.aead.error.name == "ENOENT" and .types.hash.usable and .af_alg.usable'
	json '[.barred[] | .module] == ["algif_aead", "algif_hash", "af_alg"]'
	json '.barred | all(.file == "'$rules'")'
	json '.barred[0].rule | test("^\tinstall  algif-aead .*/bin/false$")'
	json '.algorithms[] | select(.name == "sha256") | .backend == "uring"'
	json '.algorithms[] | select(.name == "gcm(aes)") | .backend == "soft" and .fallback == "not offered by the kernel"'
	run 0 info hash:sha256
	grep -q '^  aead  *no: the module algif_aead is missing or barred' "$work/out"
	grep -q "^barred  *algif_aead, by \".*\" in $rules$" "$work/out"
}

hidden() {
	mkdir -p /run/modprobe.d
	echo 'install algif_hash /bin/false' >/run/modprobe.d/zz-hidden.conf
	echo 'install algif_hash /bin/false' >/etc/modprobe.d/zz-no-configuration
	printf 'install other /bin/false\noptions algif_hash x=1\nalias algif-hash-2 off\nblacklist' \
		>/etc/modprobe.d/zz-hidden.conf
	run 0 info --json hash:sha256
	json '.barred == []'
}

if in_kernel; then
	check "${names[0]}" asynchronous
	check "${names[1]}" barred
	rm -f /etc/modprobe.d/zz-test.conf
	modprobe algif_aead
	check "${names[2]}" hidden
	rm -f /etc/modprobe.d/zz-* /run/modprobe.d/zz-*
else
	for name in "${names[@]}"; do
		skip "$name" "needs a kernel of its own"
	done
fi

finish
