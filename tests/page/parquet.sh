#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# parquet.sh BUILD: what `ktr export parquet` writes, in readers that are not ours (parquet.mjs). They come from npm, once,
# into NODE_MODULES (BUILD/npm).
set -eu
O=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
NODE_MODULES=${NODE_MODULES:-$O/npm}
export NODE_MODULES
mkdir -p "$NODE_MODULES"
[ -d "$NODE_MODULES/node_modules/@duckdb" ] ||
	(cd "$NODE_MODULES" && npm install --ignore-scripts hyparquet parquet-wasm apache-arrow @duckdb/node-api)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for path in rseq thread; do
	KTR_PATH=$path KTR_MASK=all KTR_FILE="$dir/$path" "$O/examples/pool" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
	node "$here/parquet.mjs" "$O/bin/ktr" "$dir/$path"
done
