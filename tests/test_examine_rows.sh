#!/usr/bin/env bash
# test_examine_rows.sh BUILD: bench/examine_paper_rows.py on a made run whose numbers are known: seeds are averaged before
# objects, an object without all of its seeds does not count, pairs are of the same place, bench/results.py takes every line.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
need_packages numpy

"$python" - "$dir" << 'END'
import json, os, struct, sys

# ResNet-34 starts at .5 and AlexNet at .4; rl ends at .4 and .2, in the first class .1 lower, in the second .1 higher; its two
# seeds are .05 apart. cem ends at half of each start.
NAMES = ["lamp_energy", "sun_energy", "lamp_distance", "lamp_azimuth", "lamp_elevation", "camera_distance", "camera_azimuth",
         "camera_elevation", "camera_roll"]
for name, left_out in (("whole", None), ("part", 5), ("turned", None)):
    run = f"{sys.argv[1]}/{name}"
    os.makedirs(f"{run}/segments/000"), os.makedirs(f"{run}/searches/000")
    with open(f"{run}/config.yaml", "w") as file:
        factors = "[]" if name != "turned" else "".join(f"\n  - factor: {f}\n    least: 0" for f in NAMES[::-1])
        file.write("""study: examine
objects:
  per_class: 2
classes:
  - name: "lamp"
    leave: false
  - name: "bed"
    leave: true
  - name: "chair"
    leave: false
search:
  seeds: 2
factors: FACTORS
models:
  - name: "resnet34"
    region: []
  - name: "alexnet"
    region:
      - factor: camera_roll
        least: 3
examiners:
  - method: rl
    name: ""
    batch: 32
  - method: cem
    name: ""
    generation: 10
""".replace("FACTORS", factors))
    unit = 0
    for model, start in enumerate((.5, .4)):
        for examiner, asked in enumerate(([3200, 16000], [100, 500])):
            for seed in range(2):
                for place in range(4):
                    end = (.4, .2)[model] + (.1, -.1)[place < 2] + (.025, -.025)[seed] if examiner == 0 else start / 2
                    points = [{"asked": asked[0], "mean": start}, {"asked": asked[1], "mean": end}]
                    segment = {"model": model, "examiner": examiner, "seed": seed, "start": start, "points": points,
                               "object": f"{place}" + "ab"[model] * (place == 3)}
                    if unit != left_out:
                        with open(f"{run}/segments/000/unit-{unit:06d}.json", "w") as file:
                            json.dump({"checksum": "", "segment": segment}, file)
                    # three of four last renders above 30 degrees, one in the middle
                    at = [[0.] * 7 + [.5 if k % 4 == 0 else .9] + [0.] for k in range(asked[1])] if examiner else [[0.] * 9]
                    body = b"".join(struct.pack("<9d", *(row[::-1] if name == "turned" else row)) for row in at)
                    head = json.dumps({"at": {"dtype": "F64", "shape": [len(at), 9], "data_offsets": [0, len(body)]}}).encode()
                    with open(f"{run}/searches/000/unit-{unit:06d}.safetensors", "wb") as file:
                        file.write(len(head).to_bytes(8, "little") + head + body)
                    unit += 1
END

rows() { "$python" "$root/bench/examine_paper_rows.py" "$@" machine=E load=1 commit=null numbers=12 date=2026-11-30 command=x; }
rows "$dir/whole" --last > "$dir/whole.jsonl"
rows "$dir/part" > "$dir/part.jsonl"
rows "$dir/turned" --beside "$dir/part" > "$dir/turned.jsonl"
rows "$dir/part" --seeds 1 > "$dir/first.jsonl"
rows "$dir/whole" --beside "$dir/part" > "$dir/beside.jsonl"
sed 's/"resnet34"/"resnet34-m5"/; s/"alexnet"/"resnet34-steps-m5"/' -i.whole "$dir/whole/config.yaml"
rows "$dir/whole" --last > "$dir/table_3.jsonl"
mkdir -p "$dir/alone/segments/000"                       # cem of the whole run, as a run of its own
"$python" - "$dir" << 'END'
import json, os, sys
alone = sys.argv[1] + "/alone"
text = open(sys.argv[1] + "/whole/config.yaml.whole").read()
before, after = text.split("examiners:\n")
open(alone + "/config.yaml", "w").write(before + "examiners:\n" + after[after.index("  - method: cem"):])
for unit in range(16):
    model, rest = divmod(unit, 8)
    old = json.load(open(f"{sys.argv[1]}/whole/segments/000/unit-{model * 16 + 8 + rest:06d}.json"))
    old["segment"]["examiner"] = 0
    json.dump(old, open(f"{alone}/segments/000/unit-{unit:06d}.json", "w"))
END
rows "$dir/alone" --beside "$dir/part" > "$dir/alone.jsonl"
sed -i 's/{"asked": 500/{"asked": 300/' "$dir"/alone/segments/000/*
rows "$dir/alone" --beside "$dir/part" > "$dir/stopped.jsonl"
sed -i 's/^search:/search:\n  mode: strength/' "$dir/part/config.yaml"
rows "$dir/part" > "$dir/strength.jsonl"

"$python" - "$root" "$dir" << 'END' || fail "bench/examine_paper_rows.py: see above"
import json, sys
sys.path.insert(0, sys.argv[1] + "/bench")
import examine_paper_rows, numpy as np, results

machines = {"E": ""}
def read(name):
    rows = {}
    for line in open(f"{sys.argv[2]}/{name}.jsonl"):
        row = json.loads(line, parse_float=results.Figure, parse_int=results.Figure)
        assert results.wrong_with(row, machines) is None, (line, results.wrong_with(row, machines))
        assert (row["op"], row["case"]) not in rows, line
        rows[row["op"], row["case"].replace(", numbers 12: ", ": ").removeprefix("examine_paper: ")] = row
    return rows
def expect(rows, op, case, value, of=4, low=None, high=None):
    row = rows[op, case]
    assert abs(row["value"] - value) < 6e-4 and row["of"] == of, (op, case, row)
    for key, x in (("low", low), ("high", high)):
        assert x is None or abs(row[key] - x) < 6e-4, (op, case, row)

rows = read("whole")
expect(rows, "mean p, T = 0", "ResNet-34, rl", .5)
expect(rows, "mean p, T = 500", "ResNet-34, rl", .4, 4, .3, .5)
expect(rows, "share of p at T = 0, T = 500", "ResNet-34, rl", .8, 4, .6, 1)
expect(rows, "mean p, T = 500", "examine_paper by class: ResNet-34, rl, lamp", .3, 2)
expect(rows, "mean p, T = 500", "examine_paper by class: ResNet-34, rl, chair", .5, 2)
expect(rows, "mean p, AlexNet minus ResNet-34, T = 500", "rl", -.2, 4, -.2, -.2)
expect(rows, "share of p at T = 0, AlexNet minus ResNet-34, T = 500", "rl", -.3, 4, -.35, -.25)
expect(rows, "mean p, cem minus rl, paired by object", "AlexNet, T = 500", 0)
expect(rows, "last 100 renders above 30 degrees, T = 500", "AlexNet, cem", .75)
expect(rows, "last 100 renders below -30 degrees, T = 500", "AlexNet, cem", 0)
assert not [op for op, _ in rows if op.startswith("mean p, rl at")]       # both end at T = 500
assert rows["mean p, T = 500", "ResNet-34, rl"]["peer_value"] == .131
assert "1 of 4 places" in rows["mean p, AlexNet minus ResNet-34, T = 500", "rl"]["note"]
assert "note" not in rows["mean p, T = 500", "ResNet-34, rl"]

rows = read("part")                                     # the second lamp lacks the second seed of ResNet-34's rl
expect(rows, "mean p, T = 500", "ResNet-34, rl", (.3 + .5 + .5) / 3, 3)
expect(rows, "mean p, T = 500", "examine_paper by class: ResNet-34, rl, lamp", .3, 1)
expect(rows, "mean p, AlexNet minus ResNet-34, T = 500", "rl", -.2, 3)
assert rows["mean p, T = 500", "ResNet-34, rl"]["note"] == "31 of 32 searches"
assert "low" not in rows["mean p, T = 500", "examine_paper by class: ResNet-34, rl, lamp"]

rows = read("first")                                    # the first seed is .025 above the mean of both, and whole
expect(rows, "mean p, T = 500", "ResNet-34, rl, 1 of 2 seeds", .425)
expect(rows, "mean p, cem minus rl, paired by object", "ResNet-34, T = 500, 1 of 2 seeds", -.175)
assert not [case for op, case in rows if not case.endswith(", 1 of 2 seeds")]
assert rows["mean p, T = 500", "ResNet-34, rl, 1 of 2 seeds"]["peer_value"] == .131

rows = read("table_3")                                  # ends at T = 500; the paper's numbers are of T = 200
expect(rows, "mean p, T = 0 (Table 3)", "ResNet-34, m = 5", .5)
expect(rows, "mean p, T = 500 (Table 3)", "rl, m = 5", .4)
expect(rows, "mean p, T = 500 (Table 3)", "rl, m = 5, equal steps", .2)
expect(rows, "last 100 renders above 30 degrees, T = 500", "ResNet-34, m = 5, equal steps, cem", .75)
assert not [row for row in rows.values() if "peer" in row]

rows = read("strength")                                 # its cases are not those of the search for weaknesses
expect(rows, "mean p, T = 500", "AlexNet, rl, strength", .2)
assert "peer_value" not in rows["mean p, T = 500", "AlexNet, rl, strength"]
assert not [case for op, case in rows if not case.endswith(", strength")]

rows = read("turned")                                   # the same renders in another order of the factors
for kind in ("two orders", "two seeds", "two orders minus two seeds"):
    expect(rows, f"energy distance of the last 50, {kind}", "ResNet-34, cem", 0, 4)
expect(rows, "mean p, camera first minus the usual order, paired", "ResNet-34, rl, T = 500", 0, 3)
assert examine_paper_rows.distance(np.zeros((3, 2)), np.array([[3., 4.]] * 2)) == 10
assert examine_paper_rows.distance(np.zeros((1, 1)), np.array([[0.], [2.]])) == 1
assert examine_paper_rows.distances([np.zeros((1, 1)), np.ones((1, 1))], [np.zeros((1, 1))]) == (1, 2)

rows = read("alone")                                    # rl is the other run's, which lacks one place
expect(rows, "mean p, cem minus rl, paired by object", "ResNet-34, T = 500", .25 - (.3 + .5 + .5) / 3, 3)
expect(rows, "mean p, cem minus rl, paired by object", "AlexNet, T = 500", 0)

rows = read("stopped")                                  # cem ends at T = 300
expect(rows, "mean p, rl at T = 500 minus cem at T = 300", "ResNet-34", (.3 + .5 + .5) / 3 - .25, 3)

assert not [op for op, _ in read("beside") if op.startswith(("mean p, camera first", "energy"))]     # of one order
END
printf 'ok\n'
