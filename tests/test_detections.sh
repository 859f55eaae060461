#!/usr/bin/env bash
# test_detections.sh BUILD: spotter discover on a detector that misses small objects and sees discs in striped pictures, from
# pictures and two JSON files to the page: both weaknesses are found; embeddings by ids; what is refused.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "needs python3-numpy and python3-pil"; exit 77; }
/usr/bin/python3 random_clip.py "$dir/clip" || exit 1
/usr/bin/python3 detector_data.py "$dir" 200 || exit 1
cd "$dir" || exit 1
data="--coco truth.json --detections found.json"
clip="--images images --embed clip/clip/model.safetensors"

# The tables alone, then the search in the same folder.
run 0 "rows.csv, attributes.csv" discover $data --rows-only --out found
[ "$(ls found | tr '\n' ' ')" = "attributes.csv rows.csv " ] || fail "--rows-only left $(ls found)"
cp found/rows.csv rows.csv
run 0 "" discover $data $clip --no-proof -m planespot-pca --out found --threads 1
cmp -s rows.csv found/rows.csv || fail "rows.csv differs from that of --rows-only"
run 0 "" discover $data $clip --no-proof -m planespot-pca --out again --threads 2
for name in slices.csv slices.json map.npy subject.safetensors rows.csv report.html; do
    cmp -s found/$name again/$name || fail "$name depends on the threads"
done

/usr/bin/python3 - <<'PYTHON' || fail "the weaknesses are not found"
import csv, json
rows = {r["id"]: r for r in csv.DictReader(open("found/rows.csv"))}
size = {r["id"]: r["size"] for r in csv.DictReader(open("found/attributes.csv"))}
truth, found = json.load(open("truth.json")), json.load(open("found.json"))
assert sum("objects" in r["class"] for r in rows.values()) == len(truth["annotations"])
assert sum("detections" in r["class"] for r in rows.values()) == len(found)
assert all((r["outcome"] in ("missed", "false")) == (r["reason"] != "") for r in rows.values())
slices = {}
for r in csv.DictReader(open("found/slices.csv")):
    slices.setdefault((r["class"], int(r["rank"])), []).append(r["id"])
for cls, outcome in (("disc: objects", "missed"), ("square: objects", "missed"), ("disc: detections", "false")):
    first = slices[cls, 1]
    wrong = [i for i in first if rows[i]["outcome"] == outcome]
    assert len(wrong) > 0.8 * len(first), (cls, len(wrong), len(first))
    bad = [s for (k, _), s in slices.items() if k == cls and sum(rows[i]["outcome"] == outcome for i in s) > 0.8 * len(s)]
    caught = {i for s in bad for i in s if rows[i]["outcome"] == outcome}
    assert len(caught) > 0.7 * sum(r["class"] == cls and r["outcome"] == outcome for r in rows.values()), cls
    if outcome == "missed":
        assert sum(size[i] == "small" for i in first) > 0.8 * len(first), cls
for f in json.load(open("found/slices.json"))["findings"]:
    if f["class"].endswith("objects"):
        assert "size=small" in f["slices"][0]["conjunction"]["items"], f["slices"][0]
PYTHON

# The page again from the folder, and with the folder of the pictures.
run 0 "" report found -o again.html
cmp -s found/report.html again.html || fail "another page from the folder"
run 0 "" report found -o again.html --images images
cmp -s found/report.html again.html || fail "another page with --images"

# Features of one's own in another order.
/usr/bin/python3 - <<'PYTHON'
import csv
import numpy as np
ids = [r["id"] for r in csv.DictReader(open("rows.csv"))]
order = np.random.default_rng(1).permutation(len(ids))
e = np.random.default_rng(2).standard_normal((len(ids), 4)).astype(np.float32)
np.save("e.npy", e)
np.save("mixed.npy", e[order])
open("mixed.csv", "w").write("id\n" + "".join(ids[k] + "\n" for k in order))
PYTHON
run 0 "" discover $data --embeddings e.npy -m ward --out plain --no-report
run 0 "" discover $data --embeddings mixed.npy --ids mixed.csv:id -m ward --out mixed --no-report
cmp -s plain/slices.csv mixed/slices.csv || fail "ids change the slices"

# Findings of other rows take the tables with them, but not those of somebody else.
/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(3)
np.savez("photos.npz", e=r.standard_normal((60, 4)).astype(np.float32), y=np.arange(60) % 2, p=r.random(60).astype(np.float32))
PYTHON
photos="-e photos.npz:e -y photos.npz:y -p photos.npz:p -m confidence --no-report"
refused 2 discover $photos --out mixed
[ -e mixed/rows.csv ] || fail "a refusal removed rows.csv"
echo "id,mine" >mixed/attributes.csv
run 0 "" discover $photos --out mixed --replace
[ ! -e mixed/rows.csv ] || fail "rows.csv of the detector is still there"
[ "$(cat mixed/attributes.csv)" = "id,mine" ] || fail "attributes.csv of somebody else is gone"
run 0 "" discover $data --embeddings e.npy -m ward --out plain --no-report --replace
[ -e plain/rows.csv ] && [ -e plain/attributes.csv ] || fail "--replace removed the tables of its own rows"

# Refusals.
refused 2 discover --detections found.json --embeddings e.npy --out no
refused 2 discover $data --out no
refused 2 discover $data --embeddings e.npy --probs e.npy --out no
refused 2 discover --embeddings e.npy -y e.npy -p e.npy --iou 0.3 --out no
mkdir other
echo mine >other/rows.csv
refused 2 discover $data --rows-only --out other
/usr/bin/python3 - <<'PYTHON'
import json
from PIL import Image
exif = Image.Exif()
exif[0x112] = 6
Image.new("RGB", (96, 48)).save("photo.jpg", exif=exif)
def write(width, height):
    json.dump(dict(images=[dict(id=1, file_name="photo.jpg", width=width, height=height)], categories=[dict(id=1, name="c")],
                   annotations=[dict(id=1, image_id=1, category_id=1, bbox=[5, 20, 30, 20])]), open(f"{width}.json", "w"))
write(48, 96), write(96, 48)
PYTHON
echo '[]' >nothing.json
photo="--images . --detections nothing.json --rows-only --out photo"
refused 3 discover --coco 48.json $photo
run 0 "" discover --coco 48.json $photo --exif apply
run 0 "" discover --coco 96.json $photo
refused 3 discover --coco 96.json $photo --exif apply
rm images/p0003.png
refused 3 discover $data $clip --out no
run 0 "is no file" discover $data $clip -m ward --skip-unreadable --no-report --out skipped
[ $failed -eq 0 ]
