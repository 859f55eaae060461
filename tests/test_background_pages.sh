#!/usr/bin/env bash
# test_background_pages.sh BUILD: figures and report page of small studies of backgrounds, whose names are hostile: their
# numbers by plain Python (background_pages.py), equal bytes, pictures that are gone, and the pages in a headless Chromium.
set -u
. ./lib.sh
/usr/bin/python3 backgrounds_world.py make "$dir/w" || fail "the world was not made"
cd "$dir" || exit 1
pages() { python3 "$tests/background_pages.py" "$@" || fail "background_pages.py $1"; }

for k in run seed window alone; do run 0 "" background w/$k.yaml --out $k; done

run 0 "" figures run seed --format csv
cp "$dir/out" seeds.csv
pages figures run seed seeds.csv
grep -q '^12,' seeds.csv || fail "two seeds make no Figure 12"
run 0 "" figures run window --format csv --which 9,10,11
cp "$dir/out" windows.csv
pages figures run window windows.csv
grep -q '^10,' windows.csv || fail "two windows make no Figure 10"
run 0 "" figures run seed -o f --format png,svg
for n in 9 11 12; do [ -s f/figure_$n.png ] && [ -s f/figure_$n.svg ] || fail "no Figure $n: $(ls f)"; done
run 0 "" figures run seed -o one --format svg --which 12 --method "no embedding"
refused 2 figures run seed -o one --method nobody
refused 2 figures run -o one --method "no embedding"
refused 2 figures run -o f --which 12
refused 2 figures run seed -o f --which 10
refused 2 figures alone -o f --which 9
refused 2 figures run -o f --which 3
refused 2 figures run -o f --shift x
refused 2 figures run w -o f

run 0 "" report run -o report.html
run 0 "" report run -o threads.html --threads 1
cmp -s report.html threads.html || fail "another number of threads gives another page"
run 0 "" report run -o small.html --budget 1
[ "$(stat -c %s small.html)" -le 1000000 ] || fail "a page of $(stat -c %s small.html) bytes for 1 MB"
refused 2 report run -o x.html --images w
run 0 "" report alone -o alone.html
mv w/backgrounds moved
run 0 "could not be read" report run -o none.html
mv moved w/backgrounds
sed "s#$dir/##g" w/alone.yaml > relative.yaml
run 0 "" background relative.yaml --out relative
mkdir other
cd other || exit 1
run 0 "the paths of the run begin at the directory in which it was started" report ../relative -o relative.html
cd .. || exit 1

has_browser || { echo "no Chromium: the pages were not opened"; exit "$failed"; }
pages look run report.html
pages alone alone alone.html
pages none none.html
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
