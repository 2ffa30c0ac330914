# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2054,SC2154 # QEMU's options have commas; the variables are those of run
#
# The guest: the QEMU command line, one boot of it with live output and a time limit, and its end. Sourced by run.

# On the kernel command line. The serial console carries the whole log, whatever a caller or the guest sets: the log guard reads it.
# Alarms that a busy host alone can set off are moved far out (RCU stalls, and the soft lockup, which fires at twice watchdog_thresh);
# all of them stay armed. panic=-1 and reboot=t with -no-reboot end QEMU at once. oops=panic and rcu_expedited are for the boot;
# process 1 takes them back. The mitigations cost emulated time and protect nothing here.
readonly KERNEL_ARGS=(
	console=ttyS0 ignore_loglevel printk.devkmsg=on
	panic=-1 oops=panic reboot=t
	rcupdate.rcu_cpu_stall_timeout=240 rcupdate.rcu_exp_cpu_stall_timeout=240000 watchdog_thresh=30 nmi_watchdog=0
	no_timer_check random.trust_cpu=on
	mitigations=off audit=0 lsm= rcupdate.rcu_expedited=1
)

# The guest's clock. Emulated, the guest's TSC is the host's, and a host that is itself virtual may see it leap by days when it moves:
# the HPET counts the host's monotonic clock instead. Under --icount both count instructions, and reading the TSC costs fewer of them.
readonly STEADY_CLOCK=(tsc=unstable clocksource=hpet)
readonly COUNTED_CLOCK=(tsc=nowatchdog clocksource=tsc)

# What one file of the guest's output may grow to, in bytes: a runaway command must not fill the host's disk. QEMU dies of SIGXFSZ then.
readonly OUTPUT_LIMIT=$((4 << 30))

# In an option of QEMU a comma is written twice.
escaped() {
	printf '%s' "${1//,/,,}"
}

share() {
	qemu+=(
		-fsdev "local,id=$1,path=$(escaped "$2"),security_model=none,multidevs=remap$3"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1"
	)
}

# A regular file takes everything at once, so that what the guest has written is there when QEMU ends.
port() {
	qemu+=(
		-chardev "file,id=$1,path=$(escaped "$work/$1")"
		-device "virtserialport,chardev=$1,name=$1"
	)
}

processor() {
	if $icount; then
		qemu+=(-accel tcg,thread=single -icount shift=0,sleep=off -cpu max,erms=off,fsrm=off)
	else
		qemu+=(-accel tcg,thread=multi -cpu max)
	fi
	qemu+=(-smp "$smp" -m "$mem")
}

clock() {
	if $icount; then
		echo "${COUNTED_CLOCK[*]}"
	else
		echo "${STEADY_CLOCK[*]}"
	fi
}

crypto_devices() {
	local i

	for i in "${!devices[@]}"; do
		qemu+=(
			-object "cryptodev-backend-builtin,id=cryptodev$i"
			-device "virtio-crypto-pci,cryptodev=cryptodev$i"
		)
	done
}

qemu_command() {
	qemu=(
		qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -machine pc,graphics=off,vmport=off
		-kernel "$kernel_dir/vmlinux" -initrd "$initramfs" -append "${KERNEL_ARGS[*]} $(clock)$append"
		-chardev "file,id=console,path=$(escaped "$work/console")" -serial chardev:console
		-device isa-debug-exit,iobase=0xf4,iosize=1
		-device virtio-serial-pci,ioeventfd=off
	)
	processor
	port stdout
	port stderr
	port status
	share root / ,readonly=on
	share job "$job" ,readonly=on
	[[ -z $results ]] || share results "$results" ''
	crypto_devices
}

# Copies one stream to the caller while the guest runs. Ends with QEMU.
follow() {
	tail -c +1 -f -s 0.05 --pid="$qemu_pid" "$work/$1"
}

# Starts the guest and waits for its end, whichever comes first: QEMU ends, time is up, or nobody reads the output any more. QEMU dies
# with this shell, should it be killed.
boot() {
	local file first out_pid err_pid clock_pid

	qemu_command
	for file in stdout stderr status console; do
		: >"$work/$file"
	done
	prlimit --fsize="$OUTPUT_LIMIT" setpriv --pdeathsig KILL "${qemu[@]}" </dev/null >"$work/qemu.log" 2>&1 &
	qemu_pid=$!
	follow stdout 2>/dev/null &
	out_pid=$!
	follow stderr >&2 2>/dev/null &
	err_pid=$!
	sleep "$timeout" &
	clock_pid=$!
	children=("$qemu_pid" "$out_pid" "$err_pid" "$clock_pid")
	wait -n -p first "${children[@]}" || :
	case $first in
	"$clock_pid") outcome=timeout ;;
	"$out_pid" | "$err_pid") outcome=deaf ;;
	*) outcome=ended ;;
	esac
	[[ $outcome == ended ]] || kill -KILL "$qemu_pid" 2>/dev/null || :
	qemu_status=0
	wait "$qemu_pid" 2>/dev/null || qemu_status=$?
	wait "$out_pid" "$err_pid" 2>/dev/null || :
	kill "$clock_pid" 2>/dev/null || :
	children=()
}

clean_up() {
	local pid

	trap '' HUP INT TERM
	for pid in "${children[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	rm -rf "$work"
}
