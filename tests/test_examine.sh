#!/usr/bin/env bash
# test_examine.sh BUILD: `spotter examine` on a world of boxes, cylinders and pyramids: a network trained on renders, kill -9,
# shards, programs that die or answer rubbish, what plan, status and help say, hostile files. ctest: threads, timeout 300
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" JOB_COMPLETION_INDEX
/usr/bin/python3 examine_world.py "$dir/world" 4 || fail "no world"

config() # SEARCH MODELS EXAMINERS
{
    printf 'study: examine\nobjects: {catalogue: %s, choice: trained}\nrender: {size: 32, samples: 1}\n' "$dir/world"
    printf 'search: {%s}\nmodels: %s\nexaminers: %s\n' "$1" "$2" "$3"
}
net='[{name: net, objects: 1, renders: 60, epochs: 2, region: [{factor: camera_elevation, absolute: true, least: 60}]}]'
config 'renders: 400, points: "200, 400", perturbed: 20, seeds: 2' "$net" '[{method: cem}, {method: bo}]' >"$dir/net.yaml"

# --- The whole way, and what it prints.
run 0 "" plan "$dir/net.yaml"
grep -q '^searches   12' "$dir/out" || fail "plan: $(cat "$dir/out")"
grep -q '^training   360 renders' "$dir/out" || fail "plan: $(cat "$dir/out")"
grep -q '^time       .* of processor time' "$dir/out" || fail "plan: $(cat "$dir/out")"

# The processor time that a plan tells follows training and searches: medians of three, and wide margins, for a busy machine.
seconds() # EDIT: of the config with that edit of sed
{
    sed "$1" "$dir/net.yaml" >"$dir/edited.yaml"
    for try in 1 2 3; do
        run 0 "" plan "$dir/edited.yaml" --json --threads 1
        cp "$dir/out" "$dir/plan.$try"
    done
    /usr/bin/python3 -c 'import json, sys; print(sorted(json.load(open(f))["cpu_seconds"] for f in sys.argv[1:])[1])' \
        "$dir"/plan.[123]
}
/usr/bin/python3 - "$(seconds 's/epochs: 2/epochs: 20/')" "$(seconds 's/epochs: 2/epochs: 200/')" \
    "$(seconds 's/seeds: 2/seeds: 40/')" "$(seconds 's/seeds: 2/seeds: 160/')" <<'END' || fail "the time of a plan"
import sys
less, more, few, many = map(float, sys.argv[1:])
assert 2 < more / less < 10 and 2.5 < many / few < 6, sys.argv
END
run 0 "" plan "$dir/net.yaml" --json --quick
/usr/bin/python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["seconds"] is None' "$dir/out" || fail "plan --quick"
run 0 "" examine "$dir/net.yaml" --out "$dir/whole" --threads 1
grep -qE 'net: (no object|. of 3 objects) learned the planted region' "$dir/out" || fail "the table: $(cat "$dir/out")"
/usr/bin/python3 - "$dir/whole" <<'END' || fail "examine.json or examine.csv"
import csv, json, sys
d = json.load(open(sys.argv[1] + "/examine.json"))
rows = list(csv.DictReader(open(sys.argv[1] + "/examine.csv")))
assert len(d["searches"]) == 12 and len(rows) == 24 and len(d["summaries"]) == 2
for s in d["summaries"]:
    mine = [u for u in d["searches"] if u["examiner"] == s["examiner"]]
    for k in range(2):
        for name in "mean", "lowest", "robust":
            mean = sum(u["curve"][k][name] for u in mine) / 6
            assert abs(mean - s["curve"][k][name]["value"]) < 1e-9, name
            assert s["curve"][k][name]["low"] <= mean <= s["curve"][k][name]["high"]
    assert s["curve"][1]["lowest"]["value"] <= s["curve"][0]["lowest"]["value"]
assert all(u["learned"] in (0, 1) and 0 <= u["accuracy_inside"] <= 1 for u in d["searches"])
assert len({u["mean_of_random_renders"] for u in d["searches"]}) == 3

# An object is judged by the fresh renders of its lowest search, whichever examiner and seed it is of.
fails = 0
for o in d["objects"]:
    own = [u for u in d["searches"] if u["object"] == o["object"] and u["curve"][-1]["lowest_valid"] is not None]
    best = min(own, key=lambda u: u["curve"][-1]["robust"])
    assert o["search"] == best["unit"] and o["p"] == best["p_of_fresh_renders"]
    assert o["fails"] == (o["p"] < d["settings"]["fails"] and best["valid_fresh_renders"] >= 10)
    fails += o["fails"]
assert len(d["objects"]) == 3 and d["models"][0]["lasting_failures"] == fails
told = [s for s in d["summary"] if "fails on %d of 3 objects: searches found" % fails in s]
assert len(told) == (fails > 0) and ("No lasting failure" in d["summary"][0]) == (not fails), d["summary"]
END
/usr/bin/python3 failures_check.py "$dir/whole" || fail "failures.json"
run 0 "nothing to do" examine "$dir/net.yaml" --out "$dir/whole"
run 0 "" status "$dir/whole"
grep -q '12 of 12 searches done' "$dir/out" || fail "status: $(cat "$dir/out")"

# --- Killed at any moment, and continued: the same bytes.
same()
{
    diff -r -x '*.tmp' "$dir/whole/segments" "$1/segments" && diff -r -x '*.tmp' "$dir/whole/searches" "$1/searches" &&
        diff -r -x '*.tmp' "$dir/whole/maps" "$1/maps" && cmp "$dir/whole/failures.json" "$1/failures.json" &&
        cmp "$dir/whole/examine.json" "$1/examine.json" && cmp "$dir/whole/models/net.safetensors" "$1/models/net.safetensors"
}
for after in 0.3 0.5 0.7 0.9 1.2; do
    timeout -s KILL $after "$spotter" examine "$dir/net.yaml" --out "$dir/killed" >"$dir/out" 2>&1 </dev/null
done
run 0 "" examine "$dir/net.yaml" --out "$dir/killed"
same "$dir/killed" || fail "a killed run differs"
for shard in 0 1 2; do run 0 "" examine "$dir/net.yaml" --out "$dir/shards" --shard $shard/3; done
same "$dir/shards" || fail "shards differ"
run 0 "" merge "$dir/shards" "$dir/killed" --out "$dir/merged"
cmp "$dir/whole/examine.json" "$dir/merged/examine.json" &&
    cmp "$dir/whole/failures.json" "$dir/merged/failures.json" || fail "a merge differs"

# --- Budgets of their own: the table has a column for each point, the page and the figures their own numbers.
config 'renders: 400, points: "200, 400", perturbed: 20, seeds: 1' '[{name: net, renders: 60, epochs: 2, objects: 1}]' \
       '[{method: random}, {method: bo-2019, name: gp, renders: 60, points: "40, 60"}, {method: cem, points: "60, 400"}]' \
       >"$dir/own.yaml"
run 0 "" plan "$dir/own.yaml"
grep -q '^renders    3720 in searches' "$dir/out" || fail "plan: $(cat "$dir/out")"      # 3 x (380 + 40 + 380 + 6 x 20 + 320)
mkdir "$dir/own" && cp -r "$dir/whole/models" "$dir/own/"
run 0 "" examine "$dir/own.yaml" --out "$dir/own"
grep -q '^net  *gp  *40 ' "$dir/out" || fail "the table of own budgets: $(cat "$dir/out")"
run 0 "" tables "$dir/own" --which 1 --format md
/usr/bin/python3 - "$dir/out" <<'END' || fail "Table 1 of own budgets: $(cat "$dir/out")"
import sys
rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in open(sys.argv[1]) if line.startswith("|")]
rows = {row[1]: row for row in rows}
assert rows["examiner"][3:] == ["40 renders", "60 renders", "200 renders", "400 renders"], rows
filled = {name: "".join("-" if c == "-" else "x" for c in rows[name][3:]) for name in ("random", "gp", "cem")}
assert filled == {"random": "--xx", "gp": "xx--", "cem": "-x-x"}, filled
END
run 0 "" report "$dir/own" -o "$dir/own.html"
grep -q 'after 60 renders\|after 400 renders' "$dir/own/examine.json" || fail "the page of own budgets"
run 0 "" figures "$dir/own" -o "$dir/figures"

# --- Programs: one that answers, one that dies in mid-search, one that answers rubbish; the others go on.
cat >"$dir/judge.py" <<'END'
import io, os, sys
import numpy as np
class Pipe:
    read = sys.stdin.buffer.read
count = 0
die, rubbish = int(sys.argv[1]), int(sys.argv[2])
while True:
    try:
        rgb = np.lib.format.read_array(Pipe)
    except ValueError:
        break
    count += len(rgb)
    if die and count > die and os.path.exists(sys.argv[3]):
        print("out of patience", file=sys.stderr)
        sys.exit(3)
    logit = rgb.mean((1, 2)).astype("<f4") / 10
    if rubbish and count > rubbish:
        logit[0, 0] = np.nan
    for answer in logit, np.zeros((len(rgb), 0), "<f4"), np.zeros((len(rgb), 0), "<f4"):
        out = io.BytesIO()
        np.save(out, answer)
        sys.stdout.buffer.write(out.getvalue())
    sys.stdout.buffer.flush()
END
touch "$dir/die"
judge="/usr/bin/python3 $dir/judge.py"
programs="[{name: good, command: $judge 0 0 -}, {name: dies, command: $judge 500 0 $dir/die},
          {name: nonsense, command: $judge 0 500 -}]"
config 'renders: 200, points: "100, 200", perturbed: 20, seeds: 1' "$programs" '[{method: cem}, {method: random}]' |
    sed 's/choice: trained/choice: best, views: 8/' >"$dir/programs.yaml"
refused 3 examine "$dir/programs.yaml" --out "$dir/programs"
[ -f "$dir/programs/segments/000/unit-000005.json" ] || fail "the good program's searches are lost"
[ ! -f "$dir/programs/segments/000/unit-000006.json" ] || fail "a dead program has a result"
[ -f "$dir/programs/searches/000/unit-000006.safetensors" ] || fail "what a dead program has answered is lost"
rm "$dir/die"
sed 's/, {name: nonsense.*}\]/]/; s/judge.py 0 500 -}\]//' "$dir/programs.yaml" | grep -v nonsense >"$dir/two.yaml"
sed -i 's/^\(models:.*\),$/\1]/' "$dir/two.yaml"
run 0 "" examine "$dir/two.yaml" --out "$dir/two"
refused 3 examine "$dir/programs.yaml" --out "$dir/programs"
for u in 06 07 08 09 10 11; do
    cmp "$dir/two/segments/000/unit-0000$u.json" "$dir/programs/segments/000/unit-0000$u.json" || fail "unit $u differs"
done

# --- The network's file as another run's weights, its outputs in another order; pictures behind the objects; the light of a
# place.
printf 'pyramid\nbox\nnothing\n' >"$dir/lacks.txt"
printf 'box\ncylinder\npyramid\n' >"$dir/outputs.txt"
tiny 1 >"$dir/tiny.yaml"
run 0 "" scene "$dir/tiny.yaml" --ec 0 --count 4 --out "$dir/pictures"
weights="[{name: given, weights: $dir/whole/models/net.safetensors, classes: $dir/outputs.txt}]"
config 'renders: 60, points: "60", perturbed: 10, seeds: 1' "$weights" '[{method: random}]' |
    sed 's/choice: trained/choice: first/' >"$dir/weights.yaml"
run 0 "" examine "$dir/weights.yaml" --out "$dir/grey"
sed "s#samples: 1#samples: 1, pictures: $dir/pictures#" "$dir/weights.yaml" >"$dir/pictures.yaml"
run 0 "" examine "$dir/pictures.yaml" --out "$dir/pictured"
! cmp -s "$dir/grey/segments/000/unit-000000.json" "$dir/pictured/segments/000/unit-000000.json" || fail "no picture is seen"
sed "s#outputs.txt#lacks.txt#" "$dir/weights.yaml" >"$dir/lacks.yaml"
refused 3 examine "$dir/lacks.yaml" --out "$dir/lacking"

# --- Without a config; hostile files.
run 0 "" examine --objects "$dir/world" --predict "$judge 0 0 -" --renders 100 --size 32 --out "$dir/flags"
refused 2 examine --objects "$dir/world" --out "$dir/x"
refused 2 examine "$dir/net.yaml" --size 32 --out "$dir/x"
refused 2 examine "$dir/programs.yaml" --out "$dir/whole"
printf 'v 0 0 0\nf 1 2 3\n' >"$dir/world/box/box0.obj"
cp -r "$dir/world" "$dir/broken"
for f in "$dir"/broken/pyramid/*.obj; do echo 'nothing at all' >"$f"; done
sed "s#$dir/world#$dir/broken#" "$dir/net.yaml" >"$dir/broken.yaml"
refused 3 examine "$dir/broken.yaml" --out "$dir/x"
sed "s#catalogue: $dir/world#catalogue: $dir/nowhere#" "$dir/net.yaml" >"$dir/nowhere.yaml"
"$spotter" examine "$dir/nowhere.yaml" --out "$dir/x" >"$dir/out" 2>"$dir/err"
[ $? -ne 0 ] && grep -q nowhere "$dir/err" || fail "no folder: $(cat "$dir/err")"
run 0 "" help config examine
grep -q 'examiners\[\].generation = ' "$dir/out" || fail "help config examine"
[ $failed -eq 0 ] && echo ok
exit $failed
