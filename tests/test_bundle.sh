#!/usr/bin/env bash
# test_bundle.sh BUILD: the folder that tools/bundle makes of a build runs elsewhere, with an empty environment and its own
# libraries, and computes what the build computes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -x "$build/spotter" ] || { echo "skipped: there is no $build/spotter"; exit 77; }
../tools/bundle "$dir/made" --build "$build" 2>"$dir/said" || { cat "$dir/said"; fail "tools/bundle"; }
mv "$dir/made" "$dir/a folder elsewhere"
cd "$dir/a folder elsewhere"

# Every library but the system's own is the bundle's.
for program in bin/*; do
    strays=$(env -i ldd "$program" | grep '=>' | grep -vF "$PWD/" |
             grep -vE '^\s*(linux-vdso|libc|libm|libdl|librt|libpthread|libresolv|libutil|libcuda)\.so' || true)
    [ -z "$strays" ] || fail "$program takes libraries from outside: $strays"
done

tiny 1 >tiny.yaml
env -i bin/spotter sweep tiny.yaml --out run --device cpu 2>said || { cat said; fail "a sweep from the bundle"; }
"$build/spotter" sweep tiny.yaml --out again --device cpu 2>said || { cat said; fail "the same sweep from the build"; }
env -i bin/spotter tables run --all --format json | grep -v '"run"' >ours
"$build/spotter" tables again --all --format json | grep -v '"run"' >theirs
cmp ours theirs || fail "the bundle computes something else"
env -i bin/spotter plan configs/paper_synthetic.yaml --quick >/dev/null || fail "its own configs"
grep -q 'bin/spotter sweep' README.md || fail "its README"

echo "the bundle runs elsewhere"
