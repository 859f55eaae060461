#!/usr/bin/env bash
# test_shift_pages.sh BUILD: figures, report page, contact sheets and grids of a small study of shifts: their numbers by plain
# Python (shift_pages.py), equal bytes, wrong votes, and the pages in a headless Chromium.
set -u
. ./lib.sh
world=$dir/w
python3 shifts_world.py make "$world" || fail "the world was not made"
cd "$world" || exit 1
pages() { python3 "$tests/shift_pages.py" "$@" || fail "shift_pages.py $1"; }

run 0 "run/pick.html: open it in a browser" shifts shifts.yaml --out run --pick --grids 3
run 0 "" shifts shifts.yaml --out again --grids 3 --threads 1
diff -rq run/grids again/grids >/dev/null || fail "another run draws other grids"
[ "$(ls run/grids/*.png | wc -l)" = 6 ] || fail "not six grids"
refused 2 figures run -o f --which 6

pages votes run votes.csv
run 0 "" shifts shifts.yaml --out run --votes votes.csv
cp "$dir/out" printed
run 0 "" figures run --format csv
cp "$dir/out" figures.csv
pages check run figures.csv printed
run 0 "" figures run -o f --format png,svg
[ "$(ls f | sort | tr '\n' ' ')" = "figure_10.png figure_10.svg figure_11.png figure_11.svg figure_17a.png figure_17a.svg \
figure_17b.png figure_17b.svg figure_6.png figure_6.svg " ] || fail "figures are $(ls f)"
run 0 "" figures run --format csv --which 10 --shift blue --shift "at night"
[ "$(cut -d, -f2 "$dir/out" | sort -u | tr -d '"' | tr '\n' ' ')" = "at night panel " ] || fail "--shift: $(head -3 "$dir/out")"
refused 2 figures run -o f --shift night
refused 2 figures run -o f --which 3

# Wrong votes: the file and the line; the votes that were read before stay.
wrong() { refused 3 shifts shifts.yaml --out run --votes wrong.csv; }
cp run/grids/votes.csv kept.csv
grid=$(sed -n 2p run/grids/key.csv | cut -d, -f1)
head -3 votes.csv >wrong.csv; echo "ann,$grid,99,1" >>wrong.csv
wrong
printf "rater,grid,place,selected\nann,$grid,1,maybe\n" >wrong.csv
wrong
printf "rater,grid,place,selected\n,$grid,1,1\n" >wrong.csv
wrong
printf "rater,grid,place,selected\nann,$grid,1,1\nann,$grid,2,0\nann,$grid,1,0\n" >wrong.csv
wrong
printf "rater,grid,place\nann,$grid,1\n" >wrong.csv
wrong
printf "rater,grid,place,selected\nann,$grid,1\n" >wrong.csv
wrong
printf "rater,grid,place,selected\n\"ann,$grid,1,1\n" >wrong.csv
wrong
printf "rater,grid,place,selected\nann,$grid,1,1\0\n" >wrong.csv
wrong
: >wrong.csv
wrong
cp run/grids/answers.csv wrong.csv
wrong
cmp -s kept.csv run/grids/votes.csv || fail "wrong votes replaced the right ones"
sed -i '2s/,real,\|,kept,\|,dropped,/,maybe,/' again/grids/key.csv
refused 3 shifts shifts.yaml --out again --votes votes.csv
rm again/grids/key.csv
refused 3 shifts shifts.yaml --out again --votes votes.csv

# A run of another encoder's thresholds is refused, but not where they are chosen anew.
sed "s/chosen_for: random clip/chosen_for: open_clip ViT-H-14/" shifts.yaml >other.yaml
refused 2 shifts other.yaml --out other
run 0 "are not used: they were chosen for another encoder" shifts other.yaml --out other --pick
[ -s other/pick.html ] || fail "no page of thresholds"

# Names that a spreadsheet would run and of two lines, a caption that is cut amid a letter, a perfect model, logit axes.
awk -F, 'NR > 1 { n = split($1, p, "/"); $0 = $1 "," p[n - 1] } { print }' m5.csv >perfect.csv
long=$(printf 'a photo of a dog and a photo of a dog %.0s' 1 2 3 | head -c 79)é
sed 's/draws: 200/draws: 200, axes: logit/; s/{name: at night/{name: "=at\\nnight", folder: at_night/; s#/m5.csv#/perfect.csv#
     s#{name: blue#{name: blue, prompt: "</script><script>document.title = 1</script>"#
     s/{name: blue/{name: blue, shift_caption: '"$long"'/' shifts.yaml >hard.yaml
run 0 "" shifts hard.yaml --out hard --pick --grids 2
pages votes hard hard.csv
run 0 "" shifts hard.yaml --out hard --votes hard.csv
run 0 "" figures hard --format csv
cp "$dir/out" hard_figures.csv
run 0 "" figures hard -o hard_f --format svg
run 0 "" figures hard -o hard_one --format svg --which 10,17 --shift "in the snow"
pages hard hard hard_figures.csv hard_f/*.svg hard_one/*.svg
sed -i 's/,shift_/,other_/' hard/grids/votes.csv
run 0 "the votes are left out: hard/grids/votes.csv line 2" figures hard --format csv
grep -q '^"\?6' "$dir/out" && fail "votes for other grids are drawn"
refused 3 figures hard --format csv --which 6
run 0 "the votes are left out" report hard -o hard.html

run 0 "" report run -o report.html
run 0 "" report run -o one.html --threads 1
cmp -s report.html one.html || fail "another number of threads gives another page"
run 0 "" report run -o small.html --budget 1
mv pictures moved
run 0 "pictures could not be read" report run -o none.html
run 0 "" report run -o moved.html --images moved
cmp -s report.html moved.html || fail "moved pictures give another page"
mv moved pictures

# Pictures that the run did not see: a stranger's run may name folders of its reader.
one=$(find pictures -path '*at_night*' -name '*.png' | sort | head -1)
cp "$one" kept.png
cp "$(find pictures -path '*in_the_snow*' -name '*.png' | sort | head -1)" "$one"
run 0 "at night: the folder does not hold the pictures that the run saw" report run -o other.html
! cmp -s report.html other.html || fail "a page shows pictures that the run did not see"
run 0 "" report run -o other.html --other-pictures
grep -q "does not hold" "$dir/err" && fail "--other-pictures: $(cat "$dir/err")"
cp kept.png "$one"
cp -r run outside
LC_ALL=C sed -i 's#/at_night/#/../night/#' outside/similarities/*/*.safetensors
refused 3 report outside -o outside.html

has_browser || { echo "no Chromium: the pages were not opened"; exit "$failed"; }
pages look run report.html lines.yaml
pages look_hard hard hard.html hard_lines.yaml
{ sed '/^shifts:/,/^models:/{/^models:/!d}' hard.yaml; cat hard_lines.yaml; } >hard_picked.yaml
run 0 "11 of 11 folders of hard are done" shifts hard_picked.yaml --out hard
# The config takes the lines as they are.
{ sed '/^shifts:/,/^models:/{/^models:/!d}' shifts.yaml; cat lines.yaml; } >picked.yaml
run 0 "" shifts picked.yaml --out picked
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
