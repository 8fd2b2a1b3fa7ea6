#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds one Debian package of what `make install` installs, with dpkg-deb alone: no debhelper is needed. What
# it depends on are the packages that own the libraries the built files ask for.
#
#	scripts/deb.sh build-directory version
set -eu
cd "$(dirname "$0")/.."
O=$1
version=$2
root=$O/deb
arch=$(dpkg --print-architecture)
lib=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)

rm -rf "$root"
make -s --no-print-directory O="$O" PREFIX=/usr LIBDIR="$lib" DESTDIR="$root" install
strip --strip-unneeded "$root/usr/bin/ktr" "$root$lib"/libktr*.so.*.*
strip --strip-debug "$root$lib"/*.a
find "$root/usr/share/man" -name '*.[1-9]' -exec gzip -9n {} +
doc=$root/usr/share/doc/ktr
install -d "$doc"
install -m 644 LICENSE "$doc/copyright"
gzip -9nc CHANGES >"$doc/changelog.gz"

# The library of each NEEDED entry, the package it is from, and that package's version here.
depends() {
	for file in "$root/usr/bin/ktr" "$root$lib"/libktr*.so.*.*; do
		ldd "$file" | awk '$3 ~ /^\// { print $3 }' >"$O/deb.libs"
		objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }' | while read -r soname; do
			path=$(grep "/$soname\$" "$O/deb.libs" || true)
			[ -n "$path" ] || continue
			dpkg-query -S "$(realpath "$path")" "$path" 2>/dev/null | head -n 1 | cut -d: -f1
		done
	done | sort -u | while read -r package; do
		# shellcheck disable=SC2016
		dpkg-query -W -f '${Package} (>= ${Version})\n' "$package" | head -n 1 |
			sed 's/\(-[^-]*\))$/)/'
	done | paste -sd, | sed 's/,/, /g'
}
install -d "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: ktr
Version: $version
Architecture: $arch
Maintainer: ktr maintainers <maintainers@ktr.invalid>
Section: devel
Priority: optional
Depends: $(depends)
Recommends: gnuplot-nox, libcurl4
Suggests: babeltrace2
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: tracer for multi-threaded C programs, after FreeBSD's KTR
 CTR macros write fixed-size events into per-CPU rings in shared memory at the
 price of a clock read; masks change from outside while the program runs; a
 writer thread makes a CTF trace of them. This package holds the library, its
 headers and manual pages, and the ktr command that records, prints and draws.
END
echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
package=$O/ktr_${version}_$arch.deb
dpkg-deb --root-owner-group -b "$root" "$package" >/dev/null
rm -rf "$root" "$O/deb.libs"
echo "$package"
