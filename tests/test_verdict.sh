#!/usr/bin/env bash
# spotter verdict and spotter tables on runs of models whose reliance on the background is known.
set -u
. ./lib.sh
/usr/bin/python3 verdict_world.py make "$dir/w" || fail "the world was not made"
cd "$dir/w" || exit 1
edit() { sed "s|$1|$2|" background.yaml; }

run 0 "" background background.yaml --out one --threads 1
run 0 "" verdict one --train mine.safetensors
grep -q "rho-0 .* invariant  *invariant  *[0-9]* %" "$dir/out" || fail "no verdict: $(head -5 "$dir/out")"
grep -q "^random forest  *[01]\.[0-9]* +- .*[01]\.[0-9]*$" "$dir/out" || fail "no accuracies of assessors"
grep -q "of the tested models are within the forest's reach, and " "$dir/out" || fail "no word about the reach"
grep -q "^  of variant  *[0-9]* %  *[0-9]* %  *[0-9]* %$" "$dir/out" || fail "no confusion"
refused 2 verdict one --truth other
run 0 "" verdict one --truth learned
grep -q "no labels: " "$dir/out" || fail "labels by a truth that is not known: $(cat "$dir/out")"
run 0 "" verdict one --train mine.safetensors
grep -q "^confidence: mean  *+0.9" "$dir/out" ||
    fail "the mean does not follow the planted reliance: $(grep "^confidence" "$dir/out")"
grep -q "trained on 9 models (4 invariant, 2 borderline, 3 variant; planted reliance" "$dir/err" ||
    fail "the forest says not what it was trained on"
cp mine.safetensors first.safetensors
run 0 "" verdict one --train mine.safetensors --threads 2 --json
cmp -s mine.safetensors first.safetensors || fail "two trainings differ"
python3 - "$dir/out" <<'END' || fail "--json: $(head -c 300 "$dir/out")"
import json, sys
j = json.load(open(sys.argv[1]))
ok = [m["verdict"] for m in j["models"]].count("variant") >= 2 and len(j["assessors"]) == 3 and j["models"][0]["reasons"]
sys.exit(not ok)
END

# Labels of people.
python3 -c "
print('model,rater,label')
for i in range(9):
    for r in ('ann', 'bob', 'cid'):
        print(f'rho-{i},{r},' + ('invariant' if i < 4 else 'variant' if i > 5 or r == 'ann' else 'borderline'))" > labels.csv
run 0 "" verdict one --labels labels.csv --forest mine.safetensors
grep -q "labels of 3 raters; 9 of 9 models: 4 invariant, 2 borderline, 3 variant" "$dir/out" ||
    fail "labels: $(grep labels "$dir/out")"
grep -q "Fleiss' kappa of the raters 0\.[0-9]*, over 9 models" "$dir/out" || fail "no kappa"
echo 'rho-1,ann,fine' >> labels.csv
refused 3 verdict one --labels labels.csv
refused 4 verdict one --forest nothing.safetensors
refused 4 verdict one --labels nobody.csv
refused 3 verdict one one

# A model that the forest has not seen; others that it has seen; one without embeddings.
sed -e '/rho-[1-8]/d' -e 's|rho-0, reliance: 0.0|odd|' -e 's|predict 0.0|predict 40|' background.yaml > odd.yaml
run 0 "" background odd.yaml --out odd
run 0 "" verdict odd --forest mine.safetensors
grep -q "odd: no verdict: the forest has not seen such a model: it is .*most by .* (they have " "$dir/out" ||
    fail "a verdict on a model of another kind: $(cat "$dir/out")"
grep -qE "By its BG-gap alone: (depends|not shown to depend|unknown)" "$dir/out" ||
    fail "no verdict by the gap: $(cat "$dir/out")"
grep -q "no labels: nobody has labelled" "$dir/out" || fail "no word about labels"
sed -e '/rho-[0-35-8]/d' background.yaml > two.yaml
run 0 "" background two.yaml --out two
run 0 "" verdict two --forest mine.safetensors
grep -q "rho-4: borderline, with .* of the vote (the forest was trained on this very model); for it: " "$dir/out" ||
    fail "no reasons: $(cat "$dir/out")"
sed -e '/rho-[2-8]/d' -e 's|predict 0.125|predict 0.125 one|' background.yaml > mixed.yaml
run 0 "" background mixed.yaml --out mixed
refused 3 verdict mixed

# The page: a verdict with its vote and reasons, and the models of another kind without one.
for name in two odd; do
    { cat $name.yaml; echo "verdict: {forest: $dir/w/mine.safetensors}"; } | sed '/^verdict: {inv/d' > $name-page.yaml
    run 0 "" background $name-page.yaml --out $name
    run 0 "" report $name -o $name.html
done
grep -q '"verdict":{"label":1,"share":\[[0-9.]*,[0-9.]*,[0-9.]*\],.*"known":1,"reasons":\[\["' two.html ||
    fail "the page has no verdict"
grep -q '"label":-1,"words":"no verdict: the forest has not seen such a model' odd.html || fail "the page has no refusal"
grep -q 'dependence_on_the_background' odd.html || fail "the page has no verdict by the gap"

# The paper's tables: a run, its twin with another seed, another choice.
edit "n: 4}" "n: 4, seed: 2}" > seed.yaml
edit "choice: random" "choice: nearest" > nearest.yaml
run 0 "" background seed.yaml --out seed
run 0 "" background nearest.yaml --out nearest
run 0 "" tables one seed nearest
grep -q "random  *two suites (stand-in for kappa)  *0\.[0-9]*  *0.384  *9  *1" "$dir/out" ||
    fail "no stand-in: $(grep stand-in "$dir/out")"
grep -q "nearest  *neuron coverage above 0.25  *[01]\.[0-9]*  *0.133  *9  *3" "$dir/out" ||
    fail "no coverage of the other choice"
grep -q "ontology  *F1 of both  *not run  *0.650" "$dir/out" || fail "a table does not say what was not run"
grep -q "10 splits  *random forest: accuracy  *[01]\.[0-9]* ([0-9.]*)  *0.797 (0.075)" "$dir/out" || fail "no Table 2"
run 0 "" tables one --which 5 --format csv
[ "$(wc -l < "$dir/out")" -eq 4 ] || fail "Table 5 as CSV: $(cat "$dir/out")"
run 0 "" tables one --format json
python3 -c 'import json, sys; sys.exit(len({l["table"] for l in json.load(open(sys.argv[1]))["lines"]}) != 7)' "$dir/out" ||
    fail "tables as JSON"
refused 2 tables one --which 9

exit $failed
