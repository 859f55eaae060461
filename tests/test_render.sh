#!/usr/bin/env bash
# test_render.sh BUILD: `spotter render` on a world of boxes, cylinders and pyramids: the pixels that `examine` shows a model,
# grids, tables, masks and depths, threads, kill -9, folders of others. ctest: threads, timeout 300
set -u
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 examine_world.py "$dir/world" 2 || fail "no world"
objects=(--objects "$dir/world" --size 32)

# --- Random ones: for any number of threads, and after kill -9, the same bytes; what is there is not written again.
run 0 "60 renders of 6 objects, 32 pixels a side: at most" \
    render "${objects[@]}" --out "$dir/a" --number 10 --masks --depth --threads 1
grep -q '60 renders of 6 objects, [0-9]* of them valid; 180 files written' "$dir/out" || fail "the end: $(cat "$dir/out")"
run 0 "" render "${objects[@]}" --out "$dir/b" --number 10 --masks --depth --threads 4
diff -r "$dir/a" "$dir/b" || fail "threads change bytes"
for after in 0.05 0.1 0.2; do
    timeout -s KILL $after "$spotter" render "${objects[@]}" --out "$dir/killed" -n 10 --masks --depth &>"$dir/out" </dev/null
done
run 0 "" render "${objects[@]}" --out "$dir/killed" -n 10 --masks --depth
touch -d '2 hours ago' "$dir"/killed/{images,masks}/box/b.png.host-12-3.tmp "$dir/killed/images/box/thesis.tmp"
run 0 "" render "${objects[@]}" --out "$dir/killed" -n 10 --masks --depth
[ -e "$dir/killed/images/box/thesis.tmp" ] || fail "somebody's file is gone"
[ -z "$(find "$dir/killed" -name 'b.png*.tmp')" ] || fail "temporary files of a killed process stay"
diff -r -x '*.tmp' "$dir/a" "$dir/killed" || fail "a killed run differs"
run 0 "" render "${objects[@]}" --out "$dir/a" --number 10 --masks --depth
grep -q '; 0 files written' "$dir/out" || fail "files are written again: $(cat "$dir/out")"

# --- The conditions as a table; a part of the objects; a grid whose full turn does not end where it began.
run 0 "" render "${objects[@]}" --out "$dir/table" --table "$dir/a/conditions.csv"
diff -r "$dir/a/images" "$dir/table/images" || fail "a table of the conditions gives other pictures"
run 0 "" render "${objects[@]}" --out "$dir/some" -n 10 --class box --class pyramid
diff -r "$dir/a/images/box" "$dir/some/images/box" || fail "the other objects change pictures"
[ "$(ls "$dir/some/images" | xargs)" = "box pyramid" ] || fail "classes: $(ls "$dir/some/images")"
run 0 "" render "${objects[@]}" --out "$dir/grid" --number 2 \
    --factors "camera_azimuth=0:360:4, camera_elevation=-30:30:3, camera_roll=0, sun_energy = 1:3"
grep -q ',-30,0$' "$dir/grid/conditions.csv" || fail "numbers of a grid: $(sed -n 2p "$dir/grid/conditions.csv")"
printf 'study: examine\nobjects: {catalogue: %s}\nrender: {size: 32, samples: 1}\nfactors: [{factor: camera_elevation}]\n' \
    "$dir/world" >"$dir/config.yaml"
run 0 "" render "$dir/config.yaml" --out "$dir/config" --seed 5 --json
/usr/bin/python3 -c "import json; d = json.load(open('$dir/out')); assert d['renders'] == d['written'] == 6 >= d['valid'], d" ||
    fail "--json: $(cat "$dir/out")"

# --- The pixels that `examine` shows to a model: a program keeps all pictures that it is asked about.
cat >"$dir/keeps.py" <<'END'
import io, sys
import numpy as np
class Pipe:
    read = sys.stdin.buffer.read
seen = []
while True:
    try:
        rgb = np.lib.format.read_array(Pipe)
    except ValueError:
        break
    seen.append(rgb)
    np.save(sys.argv[1], np.concatenate(seen))
    for answer in rgb.mean((1, 2)).astype("<f4"), np.zeros((len(rgb), 0), "<f4"), np.zeros((len(rgb), 0), "<f4"):
        out = io.BytesIO()
        np.save(out, answer)
        sys.stdout.buffer.write(out.getvalue())
    sys.stdout.buffer.flush()
END
printf 'study: examine\nobjects: {catalogue: %s, choice: first, held_out: 1, per_class: 2}\nrender: {size: 32}\n' "$dir/world" \
    >"$dir/examine.yaml"
printf 'search: {renders: 40, points: "40", seeds: 1}\nmaps: {renders: 0, scans: none}\n' >>"$dir/examine.yaml"
printf 'models: [{name: keeps, command: /usr/bin/python3 %s %s}]\n' "$dir/keeps.py" "$dir/seen.npy" >>"$dir/examine.yaml"
run 0 "" examine "$dir/examine.yaml" --out "$dir/examined"
run 0 "" render "$dir/examine.yaml" --out "$dir/same" --number 10
/usr/bin/python3 render_check.py "$dir" || fail "render_check.py"

# --- Folders of others, changed files, wrong words: a sentence, and nothing is touched.
mkdir "$dir/foreign" && echo mine >"$dir/foreign/notes.txt"
refused 2 render "${objects[@]}" --out "$dir/foreign"
[ "$(ls "$dir/foreign")" = notes.txt ] || fail "a foreign folder has more files: $(ls "$dir/foreign")"
refused 2 render "${objects[@]}" --out "$dir/a" --number 11 --masks --depth
picture=$(find "$dir/b/images/box" -name '*-000003.png' | sort | head -n 1)
echo more >>"$picture"
cp "$picture" "$dir/changed.png"
run 3 "has other bytes than this run writes" render "${objects[@]}" --out "$dir/b" --number 10 --masks --depth
cmp "$picture" "$dir/changed.png" || fail "a changed picture was written over"
for factors in camera=1 camera_azimuth camera_azimuth=1:2:1 camera_azimuth=2:1:3 camera_azimuth=x camera_elevation=-100 \
    camera_roll=0:400 camera_distance=0 camera_roll=1,camera_roll=2; do
    refused 2 render "${objects[@]}" --out "$dir/x" --factors $factors
done
printf 'object,camera_roll\nbox/none.obj,1\n' >"$dir/object.csv"
printf 'camera_roll\nleft\n' >"$dir/word.csv"
printf 'camera_elevation\n91\n' >"$dir/beyond.csv"
printf 'roll\n1\n' >"$dir/columns.csv"
printf 'camera_roll\n' >"$dir/empty.csv"
for table in object word beyond columns empty; do
    refused 3 render "${objects[@]}" --out "$dir/x" --table "$dir/$table.csv"
done
refused 2 render "${objects[@]}" --out "$dir/x" --table "$dir/a/conditions.csv" --factors camera_roll=0:360:3
refused 2 render "${objects[@]}" --out "$dir/x" --object nothing
refused 2 render "${objects[@]}" --out "$dir/x" --class nothing
refused 2 render "${objects[@]}" --out "$dir/x" --samples 3
refused 2 render "$dir/config.yaml" "${objects[@]}" --out "$dir/x"
refused 2 render --out "$dir/x"
[ ! -e "$dir/x" ] || fail "a refused run made a folder"

# --- An object that cannot be read is left out.
echo 'nothing at all' >"$dir/world/box/box0.obj"
run 0 "this object is left out" render "${objects[@]}" --out "$dir/less" -n 10
[ "$(find "$dir/less/images" -name '*.png' | wc -l)" = 50 ] || fail "pictures of the five that can be read"
[ $failed -eq 0 ] && echo ok
exit $failed
