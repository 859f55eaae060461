#!/usr/bin/env bash
# test_demo.sh BUILD: `spotter demo` finds its planted blindspots and says so on terminal and page; its folder is another's
# command line; files that are not a demo's stay.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
[ -x "$spotter" ] || { echo "skipped: there is no $spotter"; exit 77; }
python=/usr/bin/python3

limit=60 run 0 "" demo --out "$dir/demo"
cp "$dir/out" "$dir/first"
tr -s ' \n' ' ' <"$dir/out" >"$dir/line"
grep -q "The truth is known here" "$dir/line" && grep -q "2 of 2 planted blindspots are found" "$dir/line" ||
    fail "the terminal does not say what was found: $(tail -n 20 "$dir/out")"
# The view inside belongs to the config inside: an image that would be another one is in no blindspot.
$python - "$dir/line" <<'PY' || fail "the view inside the program is not of the config inside it; run tools/demo_view"
import re, sys
planted = re.findall(r"\((\d+) rows, (\d+) wrong\)", open(sys.argv[1]).read())
assert len(planted) == 2 and all(int(wrong) > 0.9 * int(rows) > 30 for rows, wrong in planted), planted
PY
[ "$(find "$dir/demo/pictures" -name '*.png' | wc -l)" = 600 ] || fail "pictures"
grep -q "The truth is known here" "$dir/demo/found/report.html" || fail "the page does not say that its truth is known"

# Again into the same folder, with other threads: the same words and bytes.
cp "$dir/demo/found/report.html" "$dir/page"
run 0 "" demo --out "$dir/demo" --threads 1
cmp "$dir/out" "$dir/first" || fail "the second demo says something else"
cmp "$dir/demo/found/report.html" "$dir/page" || fail "the second demo has another page"
run 0 "" discover "$dir/demo/rows.yaml" --out "$dir/again" --no-report
cmp "$dir/again/slices.csv" "$dir/demo/found/slices.csv" || fail "rows.yaml has other slices than the demo"

# Files that are not a demo's stay.
mkdir "$dir/mine"
echo mine >"$dir/mine/rows.yaml"
refused 2 demo --out "$dir/mine"
[ "$(cat "$dir/mine/rows.yaml")" = mine ] && [ "$(ls "$dir/mine")" = rows.yaml ] || fail "a file of the user's was touched"
refused 4 demo --out "$dir/mine/rows.yaml"
refused 2 demo "$dir/mine"

if has_browser; then
    $python - "$tests" "$dir/demo/found/report.html" <<'PY' || fail "the page in a browser"
import sys
sys.path.insert(0, sys.argv[1])
from browser import Browser, opened, seen, text
with Browser() as browser:
    page = opened(browser, sys.argv[2], "the demo's page")
    said = text(page, "#sources")
    assert "The truth is known here" in said and "2 of 2 planted blindspots are found" in said, said
    assert seen(page, "button.card .tile canvas") >= 20, "no pictures"
PY
fi
[ $failed = 0 ] || exit 1
echo "the demo finds what was planted"
