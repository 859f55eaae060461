#!/usr/bin/env bash
# test_vary.sh BUILD: a study of backgrounds with variants: the same bytes from one process, from one that was killed, and from
# shards that are merged; answers that are not asked for twice; status, plan, tables, figures and page of all runs.
set -u
. ./lib.sh
/usr/bin/python3 verdict_world.py make "$dir/w" || fail "the world was not made"
cd "$dir/w" || exit 1

# Every model notes its start: each run and each variant starts each once, if only to ask whether it is still the same.
sed -e '/rho-[1246]/d' -e 's|command: "|command: "sh starts.sh |' -e 's/levels: 2, //' background.yaml > base.yaml
printf 'echo x >> starts\nexec "$@"\n' > starts.sh
cat base.yaml - > vary.yaml <<'END'
vary:
  - {name: seed2, suite: {seed: 2}}
  - {name: narrow, measure: {kernel: 4, sigma: 1}}
  - {name: coarse, measure: {grid: 8}}
  - {name: part50, data: {part: 50}}
END
sed 's/grid: 12/grid: 8/' base.yaml > coarse.yaml
models=5

# same A B: every file of two runs but the logs
same() { diff -r -x logs -x cache -x pictures -x '*.tmp' "$1" "$2" > "$dir/differ" || fail "$1 and $2: $(head -3 "$dir/differ")"; }

run 0 "" background vary.yaml --out one --threads 1
[ "$(wc -l < starts)" -eq $((5 * models)) ] || fail "$(wc -l < starts) starts of $models models in a run with 4 variants"
run 0 "" status one
grep -q "$((5 * models)) of $((5 * models)) models done" "$dir/out" || fail "status: $(head -1 "$dir/out")"
rm starts
run 0 "" background one/config.yaml --out again
[ "$(wc -l < starts)" -eq $((5 * models)) ] || fail "$(wc -l < starts) starts of models from the run's own config"
same one again
run 0 "" background coarse.yaml --out coarse
for k in segments responses suites; do same coarse/$k one/variants/coarse/$k; done
rm starts
run 0 "nothing to do" background one/variants/seed2/config.yaml --out one/variants/seed2
[ "$(wc -l < starts)" -eq $models ] || fail "a variant's own directory does not go on"

# Killed in a variant, then continued.
"$spotter" background vary.yaml --out killed > /dev/null 2>&1 &
pid=$!
for _ in $(seq 600); do [ -e killed/variants/seed2/segments/000/model-000001.json ] && break; sleep 0.05; done
kill -9 $pid
wait $pid 2> /dev/null
[ -e killed/variants/part50/background.json ] && fail "the run ended before it was killed"
run 75 "" status killed
run 0 "" background vary.yaml --out killed
same one killed

# Shards in directories of their own, and a merge.
run 0 "" background vary.yaml --out a --shard 0/2
run 75 "" status a
grep -q "variants/seed2: 2 of $models models, not done" "$dir/out" || fail "status of a shard: $(cat "$dir/out")"
refused 3 merge a --out half
run 0 "" background vary.yaml --out b --shard 1/2 --threads 2
run 0 "" merge a b --out all
same one all
run 0 "" merge a b --out all --json
python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit([p["merged"] for p in j["parts"]] != [5, 5, 5, 5])' \
    "$dir/out" || fail "merge --json: $(head -c 300 "$dir/out")"

# A run gets variants later.
run 0 "" background base.yaml --out grown
run 0 "variant 2 of 4: narrow" background vary.yaml --out grown
same one grown

# 12 targets, 4 backgrounds each: 1 + 4 + 1 pictures of a target, of half of them in part50; narrow and coarse have the answers.
run 0 "" plan vary.yaml --json
python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit((j["runs"], j["looks"]) != (5, 5 * 6 * 30))' \
    "$dir/out" || fail "plan: $(cat "$dir/out")"

# Tables of the directory are those of the list; answers by realness are counted again.
run 0 "" tables one --format csv
cp "$dir/out" one.csv
run 0 "" tables one one/variants/seed2 one/variants/narrow one/variants/coarse one/variants/part50 --format csv
cmp -s "$dir/out" one.csv || fail "the list of runs has other tables"
grep -q 'random,two suites (stand-in for kappa),one,0\.[0-9]*' one.csv || fail "no stand-in: $(grep stand-in one.csv)"
python3 "$tests/realness_bins.py" one one.csv || fail "realness_bins.py"
run 0 "" tables one --which 7
grep -q "^Beside the paper, 7" "$dir/out" || fail "no table of realness"

run 0 "" figures one --format csv
for n in 10 11 12 13; do grep -q "^$n," "$dir/out" || fail "no Figure $n"; done
[ "$(grep ^13, "$dir/out" | cut -d, -f5 | sort -u | wc -l)" -ge 2 ] || fail "Figure 13 has one part"
refused 2 figures one -o f --which 15
run 0 "" report one -o one.html
grep -q '"name":"narrow"' one.html || fail "the page lacks a variant"
rm -r one/variants/part50/segments
run 0 "left out: one/variants/part50 lacks model 0" tables one --which 6

refuse() { cat base.yaml - > wrong.yaml; refused 2 background wrong.yaml --out wrong; }
refuse <<< 'vary: [{name: a/b, suite: {seed: 2}}]'
refuse <<< 'vary: [{name: x, suite: {seed: 1}}]'
refuse <<< 'vary: [{name: x, suite: {seed: 2}}, {name: x, suite: {seed: 3}}]'
refuse <<< 'vary: [{name: x, suite: {seeds: 2}}]'
refuse <<< 'vary: [{name: x, suite: {choice: clip}}]'
exit $failed
