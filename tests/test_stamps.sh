#!/usr/bin/env bash
# test_stamps.sh - pictures that Debian ships, from tools/stamps to the tables: a sweep on real JPEG and PNG files, stopped and
# resumed, and what the commands say of an EC of them.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
tools=../tools
for folder in /usr/share/tuxpaint/stamps /usr/share/wallpapers; do
    [ -d $folder ] || { echo "skipped: tools/setup --tests installs $folder"; exit 77; }
done

$tools/stamps --out "$dir/stamps" --images 240 --side 64 --seed 3 >/dev/null
cat > "$dir/tiny.yaml" <<END
seed: 1
ecs: 3
data:  {coco: $dir/stamps/annotations.json, images: $dir/stamps/images, tasks: "animal, vehicle, food", size: 32,
        splits: file, pair_least: 3, blindspots: [1, 1]}
model: {width: 16, epochs: 1, batch: 32, learned_gap: 0.2}
bdms:  [{method: planespot, reduce: pca, mixture: {k_max: 4}}]
metric: {lambda_p: 0.5, lambda_r: 0.5}
END

# The splits of the file: the test has 7 of 20 pictures, of cut-outs that nothing else shows.
mkdir -p "$dir/red/images"
/usr/bin/python3 - "$tools/stamps" "$dir/stamps/annotations.json" "$dir/red" <<'END' || fail "the splits of stamps"
import collections, json, sys
from PIL import Image
splits = collections.Counter(i["split"] for i in json.load(open(sys.argv[2]))["images"])
assert splits == {"train": 132, "val": 24, "test": 84}, splits
tool = {"__name__": "stamps"}
exec(open(sys.argv[1]).read().rsplit("main()", 1)[0], tool)
shown = 0
for k in tool["CATEGORIES"]:
    whole, part = tool["stamps_of"](k), tool["parts_of"](k, 3)
    assert sorted(part[True] + part[False]) == whole and part[True] and part[False], k
    assert not any("_mirror" in p for p in whole)
    shown += len(whole)
assert shown > 250 and tool["parts_of"]("bird", 3) != tool["parts_of"]("bird", 4)

# The test's cut-outs are red here and all others green; scenes are black.
red, green = Image.new("RGBA", (9, 9), "red"), Image.new("RGBA", (9, 9), "lime")
tool.update(look={k: {True: [red], False: [green]} for k in tool["CATEGORIES"]}, back=[Image.new("RGB", (400, 400))],
            beside=collections.defaultdict(dict), options=(64, 3), out=sys.argv[3])
seen = collections.Counter()
for i in range(60):
    name, _, _, boxes, split = tool["draw"](i)
    colours = [n[1] > 99 for n in Image.open(f"{sys.argv[3]}/images/{name}").convert("RGB").getextrema()]
    assert colours == [bool(boxes) and split == "test", bool(boxes) and split != "test", False], (i, colours, boxes)
    seen[split] += bool(boxes)
assert min(seen.values()) > 2 and len(seen) == 3, seen
END

# The plan: three tasks in turn, and the disk that pixels take.
"$spotter" plan "$dir/tiny.yaml" --quick >"$dir/plan" || fail "plan"
for word in animal vehicle food "blindspot 0" "pixels of all pictures"; do
    grep -q "$word" "$dir/plan" || fail "the plan lacks $word"
done

# Pictures and what is in them.
"$spotter" scene "$dir/tiny.yaml" --ec 0 --count 12 --out "$dir/pictures" >/dev/null 2>&1 || fail "scene"
[ "$(ls "$dir"/pictures/test-*.png | wc -l)" = 12 ] || fail "scene left another number of pictures"
/usr/bin/python3 - "$dir" <<'END'
import json, sys
from PIL import Image
top = json.load(open(sys.argv[1] + "/stamps/annotations.json"))
name = {k["id"]: k for k in top["categories"]}
shows = {i["file_name"]: set() for i in top["images"]}
files = {i["id"]: i["file_name"] for i in top["images"]}
for a in top["annotations"]:
    shows[files[a["image_id"]]].add(name[a["category_id"]]["name"])
animal = {k["name"] for k in top["categories"] if k["supercategory"] == "animal"}
for line in open(sys.argv[1] + "/pictures/images.jsonl"):
    row = json.loads(line)
    of = row["picture"].rsplit("/", 1)[1]
    assert set(row["shows"]) == shows[of], row
    assert row["label"] == (len(shows[of] & animal) > 0), row
    # the pixels are those of the file: padded to a square, made smaller
    whole = Image.open(row["picture"]).convert("RGB")
    side = max(whole.size)
    square = Image.new("RGB", (side, side))
    square.paste(whole, ((side - whole.width) // 2, (side - whole.height) // 2))
    ours = Image.open(sys.argv[1] + "/pictures/" + row["file"])
    assert list(ours.getdata()) == list(square.resize((32, 32), Image.BILINEAR).getdata()), row
END

# A sweep in two goes; segments with the task, the blindspot in words, and no FDR; a picture of an EC.
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/run" --limit 1 >/dev/null 2>&1 || fail "sweep, first go"
# Between them pictures get other bytes of the same number: that is refused, and as soon as they are back the run goes on.
cp -r "$dir/stamps/images" "$dir/whole"
for f in "$dir"/stamps/images/*; do
    printf x | dd of="$f" bs=1 seek=$(($(stat -c %s "$f") - 1)) conv=notrunc 2>/dev/null
done
code=0
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/run" >/dev/null 2>"$dir/log" || code=$?
[ $code -eq 3 ] && grep -q "have other bytes than when this run decoded them" "$dir/log" || fail "$code: $(cat "$dir/log")"
cp "$dir"/whole/* "$dir/stamps/images"
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/run" --threads 1 >/dev/null 2>"$dir/log" || fail "sweep, second go"
grep -q "1 of 3 ECs are done" "$dir/log" || fail "the second go began anew"
grep -q "decoding" "$dir/log" && fail "pictures were decoded twice"
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/again" >/dev/null 2>&1 || fail "sweep at once"
for ec in 0 1 2; do
    cmp "$dir/run/segments/000/ec-00000$ec.json" "$dir/again/segments/000/ec-00000$ec.json" || fail "EC $ec differs"
done
[ "$(ls "$dir"/run/pictures/000/*.png | wc -l)" = 3 ] || fail "pictures of ECs"
grep -q '"fdr":null' "$dir/run/segments/000/ec-000001.json" || fail "a false discovery rate of what nobody knows"
"$spotter" tables "$dir/run" >"$dir/tables" 2>&1 || fail "tables"
"$spotter" view "$dir/run" --ec 1 --split val --out "$dir/view.safetensors" --images "$dir/rows" >"$dir/log" 2>&1 \
    || fail "view: $(tail -1 "$dir/log")"
last=$(ls "$dir/rows" | sed -n 's/^val-0*\([0-9]*\)\.png$/\1/p' | sort -n | tail -1)
"$spotter" scene "$dir/tiny.yaml" --ec 1 --split val --count $((last + 1)) --out "$dir/val" >/dev/null 2>&1 \
    || fail "scene of val"
python3 - "$dir" <<'END' || fail "the attributes of a view's pictures are not the categories of its images"
import csv, json, sys
facts = {s["file"]: s for s in map(json.loads, open(sys.argv[1] + "/val/images.jsonl"))}
names = [k["name"] for k in json.load(open(sys.argv[1] + "/stamps/annotations.json"))["categories"]]
rows = list(csv.DictReader(open(sys.argv[1] + "/rows/rows.csv")))
assert [r["file"] for r in rows] == sorted(f for f, s in facts.items() if s["label"]) and len(rows) > 1
for r in rows:
    assert sorted(r) == sorted(["file", *names]), r
    assert {k for k in names if r[k] == "1"} == set(facts[r["file"]]["shows"]) and set(r.values()) <= {"0", "1", r["file"]}
END

# A page shows the pictures that the run saw, which it keeps: not what lies in the folder now, of equal names and sizes.
"$spotter" report "$dir/run" -o "$dir/page.html" >/dev/null 2>"$dir/log" || fail "report: $(tail -1 "$dir/log")"
cp -r "$dir/stamps/images" "$dir/images"
/usr/bin/python3 - "$dir/stamps/images" <<'END'
import io, os, sys
from PIL import Image
for f in os.scandir(sys.argv[1]):
    black, size = io.BytesIO(), os.stat(f.path).st_size
    Image.new("L", (8, 8)).save(black, "png")
    assert len(black.getvalue()) < size
    open(f.path, "wb").write(black.getvalue().ljust(size, bytes(1)))
END
"$spotter" report "$dir/run" -o "$dir/private.html" >/dev/null 2>"$dir/log" || fail "report: $(tail -1 "$dir/log")"
cmp -s "$dir/page.html" "$dir/private.html" || fail "a page shows files that the run did not see"
cp -r "$dir/run" "$dir/no-album" && rm "$dir"/no-album/cache/*.album
"$spotter" report "$dir/no-album" -o "$dir/none.html" >/dev/null 2>"$dir/log" || fail "report: $(tail -1 "$dir/log")"
grep -q "has no pixels of the run's pictures .* so none is shown; --other-pictures" "$dir/log" || fail "$(cat "$dir/log")"
[ "$(wc -c <"$dir/none.html")" -lt "$(wc -c <"$dir/page.html")" ] || fail "a page has pictures that the run did not keep"
"$spotter" report "$dir/no-album" -o "$dir/other.html" --other-pictures >/dev/null 2>"$dir/log" || fail "--other-pictures"
cmp -s "$dir/other.html" "$dir/none.html" && fail "--other-pictures shows none"
"$spotter" view "$dir/no-album" --ec 1 --out "$dir/x.safetensors" --images "$dir/seen" >/dev/null 2>"$dir/log" &&
    fail "view shows files that the run did not see"
grep -q "has no pixels of the run's pictures" "$dir/log" && [ ! -e "$dir/seen" ] || fail "view: $(cat "$dir/log")"
"$spotter" view "$dir/run" --ec 1 --out "$dir/x.safetensors" --images "$dir/seen" >/dev/null 2>"$dir/log" || fail "view"
/usr/bin/python3 - "$dir/seen" <<'END' || fail "view shows files that the run did not see"
import glob, sys
from PIL import Image
assert all(Image.open(f).convert("L").getextrema()[1] > 0 for f in glob.glob(sys.argv[1] + "/*.png"))
END
rm -r "$dir/stamps/images" && mv "$dir/images" "$dir/stamps/images"

# CLIP looks at the real pictures as spotter embed does at the same pictures in files.
{
    grep -v '^bdms:' "$dir/tiny.yaml"
    echo "encoder: {weights: $tools/tiny_clip/model.safetensors, shape: other}"
    echo 'bdms: [{method: domino, representation: clip}]'
} > "$dir/clip.yaml"
"$spotter" plan "$dir/clip.yaml" --quick >/dev/null 2>"$dir/log" || fail "plan with CLIP: $(tail -1 "$dir/log")"
"$spotter" sweep "$dir/clip.yaml" --out "$dir/clip" --limit 2 >/dev/null 2>"$dir/log" || fail "CLIP: $(tail -1 "$dir/log")"
for split in test val; do
    "$spotter" view "$dir/clip" --ec 1 --split $split --representation clip --out "$dir/$split.safetensors" \
        --images "$dir/rows-$split" >/dev/null 2>"$dir/log" || fail "view of CLIP: $(tail -1 "$dir/log")"
    "$spotter" embed --model $tools/tiny_clip/model.safetensors --images "$dir/rows-$split" --out "$dir/$split.npy" >/dev/null \
        2>"$dir/log" || fail "embed: $(tail -1 "$dir/log")"
done
/usr/bin/python3 - "$dir" <<'END' || fail "CLIP sees other pictures than those of the EC"
import json, struct, sys
import numpy as np
for split in ("test", "val"):
    b = open(f"{sys.argv[1]}/{split}.safetensors", "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    t = json.loads(b[8:8 + n])["feature"]
    rows = np.frombuffer(b[8 + n:], "<f4", t["shape"][0] * t["shape"][1], t["data_offsets"][0]).reshape(t["shape"])
    assert len(rows) > 5 and np.abs(rows - np.load(f"{sys.argv[1]}/{split}.npy")).max() < 1e-6
    assert len({row.tobytes() for row in rows}) > 5
END

# A fault of the data is one sentence.
rm "$dir"/stamps/images/000007.*
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/bad" >/dev/null 2>"$dir/log" && fail "a missing picture was overlooked"
grep -q "pictures are not there, the first is .*000007" "$dir/log" || fail "$(tail -1 "$dir/log")"
echo "stamps: all good"
