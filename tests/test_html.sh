#!/usr/bin/env bash
# test_html.sh BUILD: the report in a headless Chromium (report_page.py), its command line, and that a run's report is the same
# bytes for any number of threads. ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
has_browser || { echo "no Chromium: skipped"; exit 77; }
python=${PYTHON:-/usr/bin/python3}

mkdir "$dir/pictures"
"$build/test_html" "$dir/hostile.html" 300 3 hostile "$dir/pictures"
"$python" report_page.py hostile "$dir/hostile.html"

"$build/test_html" "$dir/two.html" 300 3 two
"$python" report_page.py two "$dir/two.html"

mkdir "$dir/twins"
"$build/test_html" "$dir/proven.html" 600 3 proven "$dir/twins"
"$python" report_page.py proven "$dir/proven.html"
"$build/test_html" "$dir/both.html" 300 3 both
"$python" report_page.py both "$dir/both.html"

"$build/test_html" "$dir/across.html" 600 4 across
"$python" report_page.py across "$dir/across.html"

for groups in 0 7; do
    "$build/test_html" "$dir/gather$groups.html" $groups 0 gather
    "$python" report_page.py gather "$dir/gather$groups.html"
done

"$build/test_html" "$dir/big.html" 100000 1
"$python" report_page.py big "$dir/big.html"

cat > "$dir/tiny.yaml" <<END
seed: 5
ecs: 2
scene: {size: 32, rollable: [4, 4], extra_layers: [1, 1], blindspots: [1, 2], specificity: [3, 3],
        per_bucket: {train: 6, val: 6, test: 12}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3, learned_outside: 0, learned_inside: 1, base: {images: 64, epochs: 1}}
bdms:
  - {method: planespot, reduce: pca, mixture: {k_max: 4}}
  - {method: barlow, representation: model}
END
"$build/spotter" sweep "$dir/tiny.yaml" --out "$dir/run" --threads 2 2>"$dir/err" || fail "the sweep: $(cat "$dir/err")"
"$build/spotter" report "$dir/run" -o "$dir/run.html" 2>"$dir/err" || fail "the report: $(cat "$dir/err")"
"$build/spotter" report "$dir/run" -o "$dir/one.html" --threads 1 2>/dev/null
cmp "$dir/run.html" "$dir/one.html" || fail "another number of threads gives other bytes"
"$build/spotter" tables "$dir/run" --format md >"$dir/run.md" 2>/dev/null
"$python" report_page.py run "$dir/run.html"

# Without the cache there are the tables still, and a note; without a run a sentence.
rm -r "$dir/run/cache"
"$build/spotter" report "$dir/run" -o "$dir/bare.html" --budget 1 2>/dev/null || fail "no report without the cache"
grep -q "2 ECs have no map here" "$dir/bare.html" || fail "no word of the maps that are missing"
status=0
"$build/spotter" report "$dir/nothing" -o "$dir/x.html" 2>"$dir/err" || status=$?
[ $status -eq 4 ] && grep -q "$dir/nothing" "$dir/err" && [ ! -e "$dir/x.html" ] ||
    fail "no run: exit $status, $(cat "$dir/err")"
status=0
"$build/spotter" report "$dir/run" --thumb 9999 2>"$dir/err" || status=$?
[ $status -eq 2 ] || fail "--thumb 9999: exit $status"
echo "the report holds"
