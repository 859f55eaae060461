#!/usr/bin/env bash
# test_example.sh BUILD: host/bdm/README.md shows a method in one file and one row, and a setting of its own. Does what it says,
# in a copy of the tree: the file from the page's first block of C, the row from its second, the setting's member from its third
# and the setting's table from its fourth, a build, a sweep.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=host/bdm/README.md
block()   # N: the page's Nth block of C
{
    awk -v want="$1" '/^```/ { if (inside) inside = 0; else if ($0 == "```c") inside = ++n; next } inside == want' "$page"
}

block 1 > "$dir/islands.c"
cmp -s "$dir/islands.c" tests/example_method.c || fail "$page and tests/example_method.c differ: $(diff "$dir/islands.c" \
    tests/example_method.c | head -5)"
[ "$(wc -l < tests/example_method.c)" -lt 80 ] || fail "the example has 80 lines or more"

mkdir "$dir/tree"
cp -r CMakeLists.txt kernels host include bench tools "$dir/tree"
{ grep -v '^const spot_method' "$dir/islands.c"; block 4; } > "$dir/tree/host/bdm/islands.c"
header=$dir/tree/include/spotter/bdm.h last=$(block 2 | head -1 | sed 's/ *\\$//')
grep -qF "$last" "$header" || fail "$page: \"$last\" is no row of $header"
row=$last block=$(block 2) member=$(block 3) awk 'index($0, ENVIRON["row"]) == 1 { print ENVIRON["block"]; next }
    /^} spot_bdm_config;/ { print ENVIRON["member"] } { print }' "$header" > "$dir/new.h"
mv "$dir/new.h" "$header"

cmake -S "$dir/tree" -B "$dir/build" -G "$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")" \
    -DSPOT_TESTS=OFF -DSPOT_WERROR=OFF -DSPOT_NVCC= -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -march=native" \
    > "$dir/log" 2>&1 || fail "$(tail -5 "$dir/log")"
cmake --build "$dir/build" --target spotter --parallel 2 > "$dir/log" 2>&1 || fail "$(grep -m5 "error:" "$dir/log")"

cat > "$dir/my.yaml" <<'EOF'
ecs: 1
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 8, val: 4, test: 8}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{method: islands, reduce: [pca, none], share: 0.1}]
EOF
"$dir/build/spotter" sweep "$dir/my.yaml" --out "$dir/run" 2> "$dir/log" || fail "$(tail -3 "$dir/log")"
"$dir/build/spotter" tables "$dir/run" --format csv > "$dir/tables"
grep -q '^"islands",0,dr,' "$dir/tables" || grep -q '^"islands-pca",0,dr,' "$dir/tables" || fail "$(cat "$dir/tables")"
grep -q '^    share: 0.1$' "$dir/run/config.yaml" || fail "the run's config lacks the setting: $(tail "$dir/run/config.yaml")"
sed 's/share: 0.1/share: 0.6/' "$dir/my.yaml" > "$dir/bad.yaml"
if "$dir/build/spotter" plan "$dir/bad.yaml" --quick > "$dir/log" 2>&1; then fail "a share of 0.6 is taken"; fi
grep -q "share is 0.6; it takes a number from 0.001 to 0.5" "$dir/log" || fail "$(tail -3 "$dir/log")"
echo "a new method is one file and one row; a setting of its own is one member and one row"
