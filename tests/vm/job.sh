# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # the variables are those of run
#
# The job: a directory that tests/vm/run fills and the guest reads, one file for each thing that it must know. Strings that may hold
# anything are NUL-terminated. Sourced by run.

# What users of AF_ALG need, and the accelerated drivers that take the place of generic ones which are already there: elsewhere udev
# loads those by CPU feature, and the guest has no udev. Others (chacha20, poly1305) come by themselves with the algorithm's name.
# Names that a kernel lacks are skipped.
readonly AF_ALG_MODULES=(af_alg algif_hash algif_skcipher algif_aead algif_rng crypto_user cryptd pcrypt)
readonly AES_MODULES=(aesni_intel)
readonly HASH_MODULES=(ghash_clmulni_intel polyval_clmulni sha1_ssse3 sha256_ssse3 sha512_ssse3)

# An endless stdin must not fill the host's disk.
readonly STDIN_LIMIT=$((256 << 20))

# The caller's variables that reach the command. A sanitizer or a preloaded library is meant for the command alone, so what could
# harm the harness's own programs is dropped here.
save_environment() {
	local name

	environment=("AFALGBATCH_VM=$kernel")
	while read -r name; do
		case $name in
		PATH | HOME | LANG | LC_ALL | TERM | OPENSSL_MODULES | OPENSSL_CONF | LD_LIBRARY_PATH | LD_PRELOAD | ASAN_OPTIONS | \
			UBSAN_OPTIONS | LSAN_OPTIONS | TSAN_OPTIONS | AFALGBATCH_?* | AFB_?* | TEST_?*)
			[[ $name == AFALGBATCH_VM ]] || environment+=("$name=${!name}")
			;;
		esac
	done < <(compgen -e)
	unset LD_PRELOAD LD_LIBRARY_PATH OPENSSL_MODULES OPENSSL_CONF
}

# The lists of modules to load, each one modprobe in the guest.
module_lists() {
	$load_modules || return 0
	printf '%s\n' "${AF_ALG_MODULES[@]}" >"$job/load.af_alg"
	printf '%s\n' "${AES_MODULES[@]}" >"$job/load.aes"
	printf '%s\n' "${HASH_MODULES[@]}" >"$job/load.hash"
	((${#devices[@]} == 0)) || echo virtio_crypto >"$job/load.device"
}

# One line for each setting: its path under /proc/sys, a space, its value.
sysctl_lines() {
	local setting key

	for setting in "${sysctls[@]}"; do
		key=${setting%%=*}
		echo "${key//.//} ${setting#*=}"
	done
}

# The kernel's module directory, or a copy of it in which the caller's modules win over the stock ones of the same name.
module_directory() {
	local stock=$kernel_dir/lib/modules/$release tree=$work/modules

	if [[ -z $modules ]]; then
		echo "$stock"
		return
	fi
	compgen -G "$modules/*.ko*" >/dev/null || die "--modules: there is no *.ko in $modules"
	mkdir -p "$tree/lib/modules"
	cp -a "$stock" "$tree/lib/modules/"
	mkdir -p "$tree/lib/modules/$release/updates/dkms"
	cp "$modules"/*.ko* "$tree/lib/modules/$release/updates/dkms/"
	depmod -b "$tree" "$release" 2>"$work/depmod.log" || die "depmod: $(<"$work/depmod.log")"
	echo "$tree/lib/modules/$release"
}

# The guest reads a copy, so stdin has to end before the guest starts.
save_stdin() {
	head -c $((STDIN_LIMIT + 1)) >"$job/stdin"
	(($(stat -c %s "$job/stdin") <= STDIN_LIMIT)) || die "--stdin: more than $((STDIN_LIMIT >> 20)) MiB"
}

prepare_job() {
	job=$work/job
	mkdir "$job"
	printf '%s\0' "${command[@]}" >"$job/argv"
	printf '%s\0' "${environment[@]}" >"$job/env"
	printf '%s' "$PWD" >"$job/cwd"
	module_lists
	: >"$job/blacklist"
	((${#blacklist[@]} == 0)) || printf '%s\n' "${blacklist[@]}" >"$job/blacklist"
	sysctl_lines >"$job/sysctl"
	module_directory >"$work/module-directory"
	printf '%s' "$(<"$work/module-directory")" >"$job/modules"
	[[ -z $results ]] || printf '%s' "$results" >"$job/results"
	! $with_stdin || save_stdin
	cp "$here/guest-setup" "$job/"
}
