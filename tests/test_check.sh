#!/usr/bin/env bash
# test_check.sh BUILD: accept, check and the trend page at the command line, nights of tools/nightly, the page in a browser.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
spotter() { "$build/spotter" "$@"; }
# exits CODE COMMAND...
exits()
{
    local want=$1 status=0
    shift
    "$@" > "$dir/out" 2> "$dir/err" || status=$?
    [ $status -eq "$want" ] || fail "$*: exit $status, not $want: $(cat "$dir/out" "$dir/err")"
}

cat > "$dir/tiny.yaml" <<END
seed: 5
ecs: 2
scene: {size: 32, rollable: [4, 4], extra_layers: [1, 1], blindspots: [1, 2], specificity: [3, 3],
        per_bucket: {train: 6, val: 6, test: 12}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3, learned_outside: 0, learned_inside: 1, base: {images: 64, epochs: 1}}
bdms:
  - {method: planespot, reduce: pca, mixture: {k_max: 4}}
  - {method: spotlight, steps: 20}
END

# The first night has no baseline and says how to make one.
export NIGHT=2026-01-01
exits 0 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "$build" -- --threads 2
grep -q "spotter accept $dir/p/nights/2026-01-01 -o $dir/base.json" "$dir/out" || fail "no word of accept: $(cat "$dir/out")"
run=$dir/p/nights/2026-01-01
exits 2 spotter accept "$run" -o "$dir/base.json"
exits 2 spotter accept "$run" -o "$dir/base.json" --reason x --quarantine nobody:dr=x
exits 0 spotter accept "$run" -o "$dir/base.json" --reason "the first"
exits 0 spotter accept "$run" -o "$dir/again.json" --reason "the first"
cmp <(sed 's/"date":"[^"]*"/DATE/' "$dir/base.json") <(sed 's/"date":"[^"]*"/DATE/' "$dir/again.json") || fail "other bytes"

# The same again, in another directory: the same bits. One number of the baseline's another: broken.
# --keep removes what nights have made: no folder of others, no copy of a night, nothing behind a link.
export NIGHT=2026-01-02
mkdir -p "$dir/p/nights/2024-01-10" "$dir/else"
echo mine | tee "$dir/p/nights/2024-01-10/notes" > "$dir/else/notes"
cp -r "$run" "$dir/p/nights/2024-01-11"
cp -r "$run/.night" "$dir/else"
ln -s "$dir/else" "$dir/p/nights/2024-01-12"
exits 0 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "$build" --keep 1
for kept in nights/2024-01-10/notes nights/2024-01-11/config.yaml nights/2024-01-12/notes; do
    [ -s "$dir/p/$kept" ] || fail "tools/nightly removed $kept, which no night made"
done
head -1 "$dir/out" | grep -q "nothing is shown to be worse: numbers 3 same, 2 inconclusive; bits 3 same" ||
    fail "not fine: $(cat "$dir/out")"
[ ! -e "$dir/p/nights/2026-01-01" ] && [ -e "$dir/p/trend.html" ] && [ ! -e "$dir/p/running" ] || fail "what nightly leaves"
! awk 'length > 102' "$dir/out" | grep -v '…' | grep -q . || fail "wider than 100 columns: $(cat "$dir/out")"
run=$dir/p/nights/2026-01-02
exits 0 spotter check "$dir/base.json" "$run" --json
/usr/bin/python3 -c "import json, sys; d = json.load(open(sys.argv[1])); assert not d['failed'] and len(d['lines']) == 9" \
    "$dir/out" || fail "--json: $(cat "$dir/out")"
sed -E 's/("segment":\[")./\1x/' "$dir/base.json" > "$dir/bad.json"
exits 1 spotter check "$dir/bad.json" "$run" --history "$dir/h.jsonl" --commit abc
head -1 "$dir/out" | grep -q "^BROKEN: segments: 1 of 2 segments differ (EC 0)" || fail "not broken: $(cat "$dir/out")"
grep -q '"commit":"abc","failed":true' "$dir/h.jsonl" || fail "the history: $(cat "$dir/h.jsonl")"

# A night into which somebody put a file stays as it is, wherever the file lies, and says so; without the file it goes.
cp -r "$run" "$dir/stays"
export NIGHT=2026-01-03
for mine in notes.md logs/mine.txt cache/model.view segments/000/ec-000000.json.bak pictures/of-me.png "a b/c"; do
    mkdir -p "$(dirname "$run/$mine")"
    echo precious > "$run/$mine"
    exits 0 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "$build" --keep 1
    grep -qF "nights/2026-01-02 stays, since it holds $mine, which no night made" "$dir/err" || fail "$mine: $(cat "$dir/err")"
    [ "$(cat "$run/$mine")" = precious ] || fail "tools/nightly removed $mine"
    rm "$run/$mine"
    diff -r "$run" "$dir/stays" || [ "$mine" = "a b/c" ] || fail "a night that stays is another"
done
rmdir "$run/a b"
ln -s "$dir/else" "$run/cache/ab"
exits 0 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "$build" --keep 1
[ -L "$run/cache/ab" ] && [ -s "$dir/else/notes" ] || fail "tools/nightly removed a link"
rm "$run/cache/ab"
touch "$run/cache/$(printf '%032d' 1).view.host-12-3.tmp"
exits 0 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "$build" --keep 1
[ ! -e "$run" ] && ! grep -q stays "$dir/err" || fail "a night stays: $(cat "$dir/err"; ls -R "$run")"
run=$dir/p/nights/2026-01-03

# The same for continuous integration; in quarantine it is a warning.
ci() { echo --junit "$dir/$1.xml" --sarif "$dir/$1.sarif" --summary "$dir/$1.md"; }
exits 1 spotter check "$dir/bad.json" "$run" $(ci bad)
/usr/bin/python3 ci_reads.py "$dir/bad" tests=9 failures=1 errors=0 warnings=0 || fail "the files of a verdict"
grep -q '^\*\*1 of 9 lines fail\.\*\*$' "$dir/bad.md" || fail "a summary: $(cat "$dir/bad.md")"
exits 0 spotter accept "$run" -o "$dir/known.json" --reason "the first" --quarantine ':bits=known'
sed -E -i 's/("segment":\[")./\1x/' "$dir/known.json"
exits 0 spotter check "$dir/known.json" "$run" $(ci known)
/usr/bin/python3 ci_reads.py "$dir/known" tests=9 failures=0 errors=0 warnings=1 || fail "the files of a quarantine"
exits 3 spotter check "$dir/tiny.yaml" "$run" $(ci bad)
/usr/bin/python3 ci_reads.py "$dir/bad" tests=1 errors=1 || fail "the files of a failure"
exits 4 spotter check "$dir/base.json" "$run" --history "$dir/nowhere/h.jsonl" $(ci late)
/usr/bin/python3 ci_reads.py "$dir/late" tests=1 errors=1 || fail "passed, and the history is not written"
exits 4 spotter check "$dir/nothing.json" "$run"

# The verdict is the exit code of the night; while another is at work the second leaves; one left behind is taken over.
nights=$(wc -l < "$dir/p/history.jsonl")
exits 1 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/bad.json" --build "$build"
mkdir "$dir/p/running"
echo "$(hostname) $$" > "$dir/p/running/who"
exits 75 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "$build"
echo "$(hostname) 999999999" > "$dir/p/running/who"
exits 0 ../tools/nightly --place "$dir/p" --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "$build"
[ "$(wc -l < "$dir/p/history.jsonl")" -eq $((nights + 2)) ] || fail "not two more nights: $(cat "$dir/p/history.jsonl")"

exits 4 spotter report --trend "$dir/nothing.jsonl" -o "$dir/x.html"
exits 3 spotter report --trend "$dir/tiny.yaml" -o "$dir/x.html"
has_browser || { echo "the verdict holds (no Chromium: its page was not looked at)"; exit 0; }
/usr/bin/python3 trend_page.py write "$dir/four.jsonl" 4
exits 0 spotter report --trend "$dir/four.jsonl" -o "$dir/four.html"
/usr/bin/python3 trend_page.py look "$dir/four.html" 4
echo "the verdict holds"
