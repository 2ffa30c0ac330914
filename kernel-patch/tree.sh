# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# How the sources of a kernel and the patches become a tree that the modules are
# built from, for build-modules and for DKMS. Sourced behind common.sh, never run;
# the series is in $series.

# shellcheck disable=SC2154

# The directories that the Kbuild file names.
directories() {
	sed -n 's/^obj-m := //p' "$here/kbuild/$series/Kbuild"
}

# patch_files: the files of the series, in order.
patch_files() {
	sed "s,^,$here/patches/$series/," "$here/patches/$series/series"
}

# common_headers HEADERS: where the headers of a release have those that all flavours share, by their Makefile.
common_headers() {
	echo "$(dirname "$(readlink -f "$1")")/$(sed -n 's,.*/\(linux-headers-[^/]*\)/Makefile$,\1,p' "$1/Makefile")"
}

# prepare_tree TREE SOURCE HEADERS: the unpatched sources out of SOURCE, ready to be patched and built. The header that the patches change is
# taken from the headers, where it is the same as in the source: the copy in the tree is found first, crypto/Kbuild sees to that.
prepare_tree() {
	local dir tree=$1

	mkdir -p "$tree"
	for dir in $(directories); do
		mkdir -p "$tree/$dir"
		cp -rT "$2/$dir" "$tree/$dir"
	done
	mkdir -p "$tree/include/crypto"
	cp "$(common_headers "$3")/include/crypto/if_alg.h" "$tree/include/crypto/"
	cp -rT "$here/kbuild/$series" "$tree"
}

# apply_patch TREE PATCH
apply_patch() {
	patch -d "$1" -p1 -s --force --fuzz=0 --no-backup-if-mismatch <"$2" || die "${2##*/} does not apply to linux-source-$series $version"
}
