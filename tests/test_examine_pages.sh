#!/usr/bin/env bash
# test_examine_pages.sh BUILD: tables, figures, report page and verdicts of small runs of `spotter examine`, whose names are
# hostile: their numbers by plain Python (examine_pages.py), equal bytes, missing files, and the page in a headless Chromium.
set -u
. ./lib.sh
/usr/bin/python3 examine_models.py make "$dir/w" || fail "the world was not made"
cd "$dir" || exit 1
pages() { python3 "$tests/examine_pages.py" "$@" || fail "examine_pages.py $1"; }

for k in run before worse order_a order_b; do run 0 "" examine w/$k.yaml --out $k; done

run 0 "" tables run --format csv
cp "$dir/out" tables.csv
pages tables run tables.csv
for format in text md json; do run 0 "" tables run --format $format; done
refused 2 tables run --which 2
refused 2 tables run --which 4
refused 2 tables run before

run 0 "" figures run --format csv
cp "$dir/out" figures.csv
pages figures run figures.csv
run 0 "" figures run -o f
for n in 1 2 3; do [ -s f/figure_$n.png ] && [ -s f/figure_$n.svg ] || fail "no Figure $n: $(ls f)"; done
refused 2 figures run -o f --which 4
refused 2 figures run -o f --method nobody
run 0 "" figures order_a order_b --format csv
cp "$dir/out" order.csv
pages order order_a order_b order.csv
refused 2 figures order_a run -o f --which 6
refused 2 figures order_a order_b run -o f
refused 2 figures order_a -o f --which 6

# a version that is worse, one that is better, the same one; runs that cannot be compared
refused 1 compare before worse
grep -q ' worse$' out || fail "no line is worse"
run 0 "" compare worse before
grep -q ' better$' out || fail "no line is better"
run 0 "" compare before before
[ "$(grep -c ' same$' out)" = 6 ] || fail "a run is not the same as itself"
run 0 "" compare before before --fail-on pending
refused 7 compare before before --margin 0 --fail-on pending
[ "$(grep -c ' pending$' out)" = 6 ] || fail "no change at all is shown by a few objects"
refused 2 compare before worse --margin 0.6
run 1 "" compare before worse --json
python3 -c "import json; assert json.load(open('out'))['changes'][0]['verdict'] == 'worse'" || fail "the JSON of a check"
run 1 "" compare before worse --junit ci.xml --sarif ci.sarif --summary ci.md
python3 "$tests/ci_reads.py" ci errors=0 skipped=0 warnings=0 failures="$(grep -c '<failure type="worse"' ci.xml)" ||
    fail "a verdict for continuous integration"
grep -q '^| examiner ' ci.md && grep -q '^\*\*worse: [1-6] of 6 numbers' ci.md || fail "a summary: $(cat ci.md)"
grep -q '; change \[95 %\] -' ci.xml || fail "a change in the line of a failure: $(grep change ci.xml)"
run 0 "" compare worse before --junit ci.xml
! grep 'change \[95 %\]: ' ci.xml | grep -v ': [+-]' && grep -q 'change \[95 %\]: +' ci.xml ||
    fail "a change has no sign"
refused 2 compare before run
run 0 "" compare before before:"version 1"
refused 2 compare before run:nobody
refused 3 compare before order_a
refused 2 compare before worse --out x
refused 2 compare before w/worse.yaml
run 0 "by \`spotter compare A B\`" check before before
mv worse w:1
refused 1 compare before w:1
refused 1 compare before w:1:"version 2"
mv w:1 worse

run 0 "" report run -o report.html
run 0 "" report run -o again.html
cmp -s report.html again.html || fail "two pages of one run differ"
sed 's/renders: 240, seeds: 2, points: "60, 120, 240"/renders: 60, seeds: 1, mode: strength/' w/before.yaml > w/strength.yaml
run 0 "" examine w/strength.yaml --out strength
run 0 "" report strength -o strength.html
run 0 "" tables strength --which 3
grep -q "Table 3. Highest p" "$dir/out" || fail "table 3 of a search for the highest p"
! grep -qi lowest "$dir/out" || fail "a table of the highest p speaks of the lowest"
mv run/failures.json failures.json
run 0 "has no maps of failure" report run -o bare.html
mv failures.json run/failures.json
mkdir secret
for strip in run/searches/*/*.png; do mv "$strip" secret; ln -s "$(realpath secret)/${strip##*/}" "$strip"; done
run 0 "is a symbolic link out of the folder of pictures, run" report run -o linked.html
! cmp -s report.html linked.html || fail "a page shows what links in the run lead to"
for strip in run/searches/*/*.png; do mv "secret/${strip##*/}" "$strip"; done
mv w/meshes gone
run 0 "dots in place of renders" figures run -o g --which 3
mv gone w/meshes

has_browser || { echo "no Chromium: the pages were not opened"; exit "$failed"; }
pages look run report.html
pages bare bare.html
pages strength strength.html
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
