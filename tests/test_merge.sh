#!/usr/bin/env bash
# test_merge.sh BUILD: spotter merge as people and scripts meet it, on real sweeps; and what is kept of a sweep.
set -u
. "$(dirname "$0")/lib.sh"
cd "$dir" || exit 1

same() { diff -r "$1/segments" "$2/segments" >why && cmp "$1/config.yaml" "$2/config.yaml" >>why &&
         cmp "$1/results.sqlite" "$2/results.sqlite" >>why || fail "$1 and $2: $(head -c 300 why)"; }

tiny 5 >tiny.yaml

# Shards in directories of their own and as one process.
run 0 "" sweep tiny.yaml --out whole --threads 1
for i in 0 1 2; do run 0 "" sweep tiny.yaml --out s$i --shard $i/3 --threads 1 --keep results; done
run 0 "5 of 5 ECs are in all" merge s2 s0 s1 --out all
same all whole
[ "$(find all/pictures -name '*.png' | wc -l)" = 5 ] || fail "pictures"
run 0 "5 of 5 ECs are in whole" merge whole
same all whole
run 0 "nothing to do" sweep tiny.yaml --out all --threads 1     # a merged run is a run

# A missing part has a name, an exit code and a remedy; --json says the same to programs.
rm -r s0 && mkdir s0
refused 3 merge s0 s1 s2 --out some
grep -qF 'missing: 0 (1 EC): run `spotter sweep some/config.yaml --out some` again' err || fail "no remedy: $(cat err)"
grep -qF "s0 holds no results yet" err || fail "an empty directory: $(cat err)"
run 0 "missing: 0" merge s1 some s1 --out some --partial --no-pictures
printf x >>s1/segments/000/ec-000001.json
refused 3 merge s1 s2 --out less --json --partial
grep -qF 's1/segments/000/ec-000001.json: it ends early' err || fail "no word about the damaged segment: $(cat err)"
python3 - <<'END' || fail "json: $(cat out)"
import json
r = json.load(open("out"))
assert (r["status"], r["out"], r["ecs"], r["merged"], r["missing"], r["damaged"]) == ("INPUT", "less", 5, 3, 1, 1), r
assert r["missing_ecs"] == [[0, 0]] and r["damaged_ecs"] == [[1, 1]] and r["conflict_ecs"] == [], r
END
run 0 "continuing with the rest" sweep tiny.yaml --out some --threads 1
same some whole

# The command line.
refused 2 merge
refused 2 merge s1 s2
refused 4 merge nowhere s2 --out new
refused 3 merge / --out new
[ -e new ] && fail "a merge that was refused made its directory"

# A result that was not kept is said to be gone, and how it comes back.
refused 3 view s2 --ec 1 --out v
refused 3 view s2 --ec 3 --out v
run 0 "" report s2 -o page.html
grep -q "keep results" page.html || fail "the page does not say why it has no maps"
run 0 "" sweep tiny.yaml --out whole --threads 1 --keep views
run 0 "" view whole --ec 3 --out v
refused 3 view whole --ec 3 --split val --out v
refused 2 sweep tiny.yaml --out whole --keep some

exit $failed
