#!/usr/bin/env bash
# test_shift_rows.sh BUILD: bench/shift_rows.py on two made runs whose errors are known.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages numpy scipy
bench=$(realpath "$tests/../bench")
"$python" - "$dir" <<'EOF'
import json, os, sys
at = sys.argv[1]
SHIFTS = [("green", "background", .2, .5), ("at night", "lighting", .4, .2), ("rain", "weather", .1, 1)]
for world, off in ((0, .03), (1, .07)):
    os.makedirs(f"{at}/w{world}/plant")
    base = [.6, .8, 1.]
    with open(f"{at}/w{world}/plant/truth.csv", "w") as f:       # two classes, one easier than the other
        f.write("model,shift,class,pictures,right\n")
        shifted = [(s.replace(" ", "_"), [.8 - i + k * (b - .8) for b in base]) for s, _, i, k in SHIFTS]
        for name, of in [("base", base), *shifted]:
            for m, a in enumerate(of):
                f.write(f"m{m},{name},one,100,{round(100 * a) - 2}\nm{m},{name},two,50,{round(50 * a) + 1}\n")
    def row(name, category, impact, slope, source):
        there = not (world == 1 and name == "rain" and source == "clean")
        value = lambda x: {"value": x if there else None, "low": None, "high": None}
        told = {key: {"impact": value(impact + sign * off), "slope": value(slope + 2 * sign * off)}
                for key, sign in (("all", 1), ("kept", -1), ("oracle", 0))}
        return {"shift": name, "category": category, "estimates": told}
    gaps = [{"class": name, "verdict": "confounded" if harder else "not shown"}
            for name, harder in (("pair_of_striped_texts", True), ("pair of striped squares", world == 0),
                                 ("solid_text", world == 1), ("solid square", False))]
    json.dump({"sources": [{"source": s, "shifts": [row(*x, s) for x in SHIFTS], "gaps": gaps if s == "confounded" else []}
                           for s in ("clean", "confounded")]}, open(f"{at}/w{world}/shifts.json", "w"))
EOF
rows() { "$python" "$bench/shift_rows.py" "$@" machine=E load=null commit=null numbers=12 date=2026-12-01 command=x; }
rows "$dir/w0" "$dir/w1" >"$dir/both" || fail "no lines of two worlds"
rows "$dir/w0" >"$dir/one" || fail "no lines of a world"
"$python" "$bench/shift_rows.py" "$dir/w0" machine=E >"$dir/none" 2>"$dir/err" && fail "keys are missing"
rows "$dir/w0" "$dir" >"$dir/none" 2>"$dir/err" && fail "a run without results"
grep -q "has no shifts.json; give finished runs" "$dir/err" || fail "no results: $(cat "$dir/err")"
"$python" - "$bench" "$dir" <<'EOF' || fail "other lines than the worlds have"
import json, sys
sys.path.insert(0, sys.argv[1])
import results
def read(name):
    rows = [json.loads(line, parse_float=results.Figure, parse_int=results.Figure) for line in open(f"{sys.argv[2]}/{name}")]
    assert all(results.wrong_with(row, {"E": ""}) is None for row in rows)
    return {(row["op"], row["case"].removeprefix("shifts over worlds: ")): row for row in rows}
both, one = read("both"), read("one")
def expect(op, case, value, half=0, of=2):                       # Student's 97.5 % of one degree: 12.7062
    row = both[op, case]
    assert abs(row["value"] - value) < 2e-4 and row["of"] == of, row
    assert of < 2 or abs(row["high"] - value - half) < 5e-4 and abs(row["low"] - value + half) < 5e-4, row
for source in ("clean", "confounded"):
    for words in ("unfiltered", "filtered by the tiny CLIP"):
        expect("mean error of the impact", f"{source}, {words}", .05, 12.7062 * .02)
        expect("mean error of the slope", f"{source}, {words}", .1, 12.7062 * .04)
        expect("mean error of the slope", f"{source}, {words}: lighting", .1, 12.7062 * .04)
    expect("mean error of the impact", f"{source}, by the oracle", 0)
    expect("slope of lighting minus background", f"{source}, unfiltered", -.3)
expect("slope of lighting minus background", "in truth", -.3)
expect("mean error of the impact", "clean, unfiltered: weather", .03, of=1)
assert "1 shifts of all worlds have no estimate" in both["mean error of the impact", "clean, unfiltered"]["note"]
assert "no estimate" not in both["mean error of the impact", "confounded, unfiltered"]["note"]
expect("confounded classes named", "of the four", 1.5, 12.7062 * .5)
expect("confounded classes named", "others", .5, 12.7062 * .5)
assert "low" not in one["mean error of the impact", "clean, unfiltered"]
EOF
printf 'ok\n'
