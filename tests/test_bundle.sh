#!/usr/bin/env bash
# test_bundle.sh BUILD: the folder that tools/bundle makes of a build runs elsewhere, with an empty environment and its own
# libraries, and computes what the build computes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -x "$build/spotter" ] || { echo "skipped: there is no $build/spotter"; exit 77; }
../tools/bundle "$dir/made" --tests --build "$build" 2>"$dir/said" || { cat "$dir/said"; fail "tools/bundle"; }
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

# The scripts for a node with a GPU are whole; here is none.
code=0
env -i PATH=/usr/bin:/bin tools/gpu_run results --small device/about bench/methods peers/render_1 >said 2>&1 || code=$?
[ $code = 1 ] && grep -q 'device about: FAILED' said && grep -q '3 units are finished, 3 of them failed' results/RESULTS.md ||
    { cat said; fail "gpu_run without a GPU: exit code $code"; }
grep -q "commit $(git -C "$(dirname "$OLDPWD")" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)" \
    results/RESULTS.md || fail "the commit in the summary"

echo "the bundle runs elsewhere"
