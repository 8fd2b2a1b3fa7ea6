#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs scripts of tests/cli, and the unit tests, on a machine of AArch64 that qemu-system-aarch64 plays: Debian's own
# kernel, C library and compiler. There are restartable sequences, filters of system calls, namespaces, MADV_WIPEONFORK
# and a /proc of the machine's own, none of which qemu-user has, so both paths are tried and little is skipped.
#
#	scripts/arm64-machine.sh BUILD [TEST...]
#
# BUILD is a build directory of AArch64 (scripts/check-arm64.sh makes one). TEST is the name of a script of tests/cli
# without .sh, matrix=LIFE,LIFE... for those lives of tests/strangers in all ways, or unit=SUITE,... for unit tests;
# unit alone: all of them. PAGES=16k takes Debian's kernel with pages of 16 KiB (of bookworm-backports). LIMIT:
# seconds for one test; DEADLINE: seconds for all. The files of the machine, 500 MiB, are made once, in BUILD/machine.
set -u
cd "$(dirname "$0")/.." || exit 1
O=$(cd "${1:?build directory}" && pwd) || exit 1
shift
pages=${PAGES:-4k}
m=$O/machine
kernel=linux-image-cloud-arm64
[ "$pages" = 4k ] || kernel=linux-image-arm64-$pages
packages="bash busybox-static coreutils libc-bin dash diffutils findutils gawk gcc grep gzip iproute2 libc6-dev libcunit1-dev
	libjansson-dev liburcu-dev make mount procps python3 sed strace tar util-linux zlib1g-dev"

missing=
need() { # package, command
	command -v "$2" >/dev/null 2>&1 || [ -x "/sbin/$2" ] || missing="$missing $1"
}
wanted() {
	missing=
	need qemu-system-arm qemu-system-aarch64
	need mmdebstrap mmdebstrap
	need cpio cpio
	need kmod modprobe
	need e2fsprogs mkfs.ext4
	need xz-utils xzcat
}
PATH=$PATH:/sbin:/usr/sbin
wanted
if [ -n "$missing" ]; then
	if [ "${KTR_NO_INSTALL:-0}" = 1 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "arm64-machine: missing Debian packages:$missing" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	echo "arm64-machine: installing$missing"
	# shellcheck disable=SC2086 # several words
	$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
		$missing >/dev/null || exit 1
	wanted
	[ -z "$missing" ] || { echo "arm64-machine: installed, but of no use:$missing" >&2; exit 1; }
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# image FILE DIRECTORY MiB
image() {
	rm -f "$1"
	truncate -s "$3M" "$1" && mkfs.ext4 -q -F -O ^has_journal -d "$2" "$1"
}

# Modules that the kernel needs to find its disks, in their order.
modules() { # root release to
	for name in virtio_mmio virtio_pci virtio_blk ext4; do
		modprobe -d "$1" -S "$2" --show-depends $name
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		name=${file##*/}
		case $name in
		*.xz) name=${name%.xz}; xzcat "$file" >"$3/$name" ;;
		*) cp "$file" "$3" ;;
		esac
		echo "$name"
	done >"$3/list"
}

make_machine() {
	root=$work/root
	hook=true
	# shellcheck disable=SC2016 # for the hook's shell
	[ "$pages" = 4k ] || hook='cd "$1/etc/apt"; sed "s/ bookworm / bookworm-backports /" sources.list >sources.list.d/more.list'
	echo "arm64-machine: fetching $kernel and what runs on it"
	mmdebstrap --quiet --variant=extract --arch=arm64 --format=tar --skip=output/dev --setup-hook="$hook" \
		--include="$(echo "$packages $kernel" | tr -s ' \n\t' ,)" bookworm "$work/root.tar" 2>"$work/log" || {
		cat "$work/log"
		return 1
	}
	mkdir "$root" && tar -xf "$work/root.tar" -C "$root" --no-same-owner && rm "$work/root.tar" || return 1
	# No script of a package has run.
	ln -sf gcc "$root/usr/bin/cc"
	ln -sf gawk "$root/usr/bin/awk"
	printf '%s\n' root:x:0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/:/bin/sh >"$root/etc/passwd"
	printf '%s\n' root:x:0: nogroup:x:65534: >"$root/etc/group"
	mkdir -p "$root/mnt" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/run"
	release=$(ls "$root/lib/modules")
	mkdir -p "$work/first/bin" "$work/first/mods" "$work/first/root" "$work/first/dev" "$m"
	depmod -b "$root" "$release"
	modules "$root" "$release" "$work/first/mods"
	cp "$root/bin/busybox" "$work/first/bin"
	cat >"$work/first/init" <<-'INIT'
		#!/bin/busybox sh
		/bin/busybox mount -t devtmpfs none /dev
		for name in $(/bin/busybox cat /mods/list); do /bin/busybox insmod /mods/$name; done
		until [ -e /dev/vda ] && [ -e /dev/vdb ]; do /bin/busybox usleep 20000; done
		/bin/busybox mount -t ext4 -o ro /dev/vda /root && /bin/busybox mount -t ext4 /dev/vdb /root/mnt &&
			exec /bin/busybox switch_root /root /mnt/init
		/bin/busybox poweroff -f
	INIT
	chmod +x "$work/first/init"
	(cd "$work/first" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$m/initrd.$pages" || return 1
	cp "$root/boot/vmlinuz-$release" "$m/kernel.$pages" || return 1
	rm -rf "$root/boot" "$root/lib/modules" "$root/usr/share/doc" "$root/usr/share/locale"
	image "$m/root.$pages.new" "$root" 800 && mv "$m/root.$pages.new" "$m/root.$pages"
	rm -rf "$root"
}
[ -e "$m/root.$pages" ] || make_machine || { echo "arm64-machine: no machine could be made"; exit 1; }

# What it runs: the tree, and the build directory in it.
disk=$work/disk
mkdir -p "$disk/ktr/build"
tar -c --exclude=./build --exclude=./demo-out --exclude=./.git . | tar -x -C "$disk/ktr"
tar -c -C "$O" --exclude=./machine --exclude='*.d' bin lib pic flags tests examples obj/libktr.a obj/libktrread.a | tar -x -C "$disk/ktr/build"
echo "$*" >"$disk/tests"
cat >"$disk/init" <<'INIT'
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs none /dev/shm
mount -t devpts none /dev/pts
mount -t tmpfs none /tmp
mount -t tmpfs none /run
ln -sf /proc/self/fd /dev/fd
ip link set lo up
cd /mnt/ktr && sh /mnt/run
echo "machine: all has ended, $?"
echo o >/proc/sysrq-trigger
sleep 60
INIT
cat >"$disk/run" <<INIT
limit=${LIMIT:-1200}
export KTR_NO_INSTALL=1 LIMIT=300 WEDGE=60 STRANGERS_SLACK=${STRANGERS_SLACK:-15} O=build
INIT
cat >>"$disk/run" <<'INIT'
echo "     $(uname -srm), pages of $(getconf PAGESIZE) bytes, $(nproc) CPUs"
failed=0
for test in $(cat /mnt/tests); do
	rest=$(echo "${test#*=}" | tr , ' ')
	[ "$rest" != "$test" ] || rest=
	case $test in
	unit*) set -- build/tests/unit $rest ;;
	matrix*) set -- sh tests/strangers/matrix.sh $rest ;;
	*) set -- sh tests/cli/*/"$test.sh" ;;
	esac
	start=$(cut -d. -f1 /proc/uptime)
	if timeout -k 5 "$limit" "$@" >/tmp/said 2>&1; then
		word=ok
	else
		word="FAIL ($?)"
		failed=1
		tail -c 6000 /tmp/said
	fi
	echo "$word   $test ($(($(cut -d. -f1 /proc/uptime) - start)) s)"
	grep '^skipped: ' /tmp/said | sed 's/^/     /'
	sed -n '/^Run Summary/,/^$/p; s/^\([0-9]* cells\)$/     \1/p' /tmp/said
done
exit $failed
INIT
chmod +x "$disk/init"
image "$work/disk.img" "$disk" 600 || exit 1
rm -rf "$disk"
: >"$work/console"
# Its lines are shown as they come. "max" has landing pads and signed returns; with pages of 16 KiB it keeps running
# what a page had before it was written (qemu 7.2; tests/unit/ktr/test_sequence.h sets breakpoints).
cpu=max,pauth-impdef=on
[ "$pages" = 4k ] || cpu=neoverse-n1
timeout "${DEADLINE:-5400}" qemu-system-aarch64 -M virt -cpu $cpu -smp 2 -m 3072 -nographic -nodefaults \
	-no-reboot -serial stdio -kernel "$m/kernel.$pages" -initrd "$m/initrd.$pages" \
	-append "console=ttyAMA0 panic=-1 quiet" \
	-drive "if=none,id=root,file=$m/root.$pages,format=raw,snapshot=on" -device virtio-blk-pci,drive=root \
	-drive "if=none,id=disk,file=$work/disk.img,format=raw" -device virtio-blk-pci,drive=disk </dev/null 2>&1 |
	sed -u 's|\r||' | tee "$work/console"
grep -q '^machine: all has ended, 0$' "$work/console"
