#!/usr/bin/env bash
# test_gather_scenes.sh BUILD: claims about scenes, whose new images spotter gather draws: a classifier that fails on speckled
# backgrounds with orange squares, found and described by attributes; a true and a false claim; the network of an EC.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "needs python3-numpy and python3-pil"; exit 77; }
EXAMPLE=$(realpath ../tools/python/examples)
export EXAMPLE
cd "$dir" || exit 1

cat > config.yaml <<'END'
seed: 4
ecs: 1
scene: {size: 64, rollable: [8, 8], blindspots: [1, 1], specificity: [4, 4], per_bucket: {train: 1, val: 1, test: 4}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{reduce: pca, mixture: {k_max: 4}}]
END
run 0 "" sweep config.yaml --out run --no-pictures
run 0 "" view run --ec 0 --out view.safetensors --images seen

# Output 0 on nine of ten speckled images; a planted weakness that is known to the pixel.
cat > program.py <<'PYTHON'
import os, sys
import numpy as np
sys.path.insert(0, os.environ["EXAMPLE"])
from protocol import serve
def is_speckled(rgb):
    ring = np.concatenate([rgb[:, 0], rgb[:, -1], rgb[:, :, 0], rgb[:, :, -1]], 1).astype(int)
    return (np.abs(np.diff(ring, axis=1)).max(2) > 40).sum(1) > 9     # an object that reaches the border changes it less often
def logits(rgb):
    x, speckled = rgb.astype(int), is_speckled(rgb)
    odd = (x != x[:, :1, :1]).sum((1, 2, 3)) % 10
    z = np.where(speckled & (odd > 0), -2, 2)
    return z[:, None].astype(np.float32), np.zeros((len(x), 0)), np.zeros((len(x), 0))
if __name__ == "__main__": serve(logits)
PYTHON
/usr/bin/python3 - <<'PYTHON' || exit 1
import csv
import numpy as np
from PIL import Image
from program import logits
rows = list(csv.DictReader(open("seen/rows.csv")))
z = logits(np.stack([np.asarray(Image.open("seen/" + r["file"])) for r in rows]))[0][:, 0]
open("old.csv", "w").write("label,p\n" + "".join(f"1,{1 / (1 + np.exp(-v)):.4f}\n" for v in z))
speckled = np.array([r["background texture"] == "salt_and_pepper" for r in rows])
print(len(z), "searched;", (z[speckled] < 0).mean(), "of speckled and", (z[~speckled] < 0).mean(), "of others wrong")
assert (z[speckled] < 0).mean() > 0.7 and (z[~speckled] < 0).mean() < 0.1
np.save("e.npy", np.stack([speckled, np.arange(len(rows)) * 1e-4], 1).astype(np.float32))
PYTHON
rows=(-e e.npy -y old.csv:label -p old.csv:p --ids seen/rows.csv:file)
run 0 "" discover "${rows[@]}" --attributes seen/rows.csv:file \
    --method ward --no-report --no-fit --out found
grep -q "^ *1  confirmed " out || fail "the planted weakness is not found: $(cat out)"
grep -m1 "is: " out | grep -q "background texture=salt_and_pepper" || fail "its attributes are others: $(cat out)"

model=(--run run --predict "/usr/bin/python3 program.py")
run 0 "" gather found --slice 1 "${model[@]}" --out true
grep -q '^claim: .* on ".*background texture=salt_and_pepper.*", class 1 (slice 1 of found' out || fail "$(cat out)"
grep -q "^confirmed on new data: p = " out || fail "a true claim is not confirmed: $(cat out)"
run 0 "" gather --text "circle" "${model[@]}" --out false
grep -q "^not confirmed on new data: p = " out || fail "a false claim is confirmed: $(cat out)"
run 0 "" gather --text "background noisy" "${model[@]}" --seed 3 --out words
grep -q "^confirmed on new data: p = " out || fail "a true claim in words is not confirmed: $(cat out)"
/usr/bin/python3 - <<'PYTHON' || fail "the images lack what was asked"
import csv
import hashlib
from pathlib import Path
import numpy as np
from PIL import Image
from program import is_speckled, logits
old = {hashlib.sha1(np.asarray(Image.open(f)).tobytes()).digest() for f in Path("seen").glob("*.png")}
others = 0
for name in ("true", "words"):
    rows = list(csv.DictReader(open(name + "/gathered.csv")))
    assert len(rows) == 80 and len({r["picture"] for r in rows}) == 80
    for r in rows:
        rgb = np.asarray(Image.open(f"{name}/pictures/" + r["picture"]))
        assert hashlib.sha1(rgb.tobytes()).digest() not in old, r
        gathered = r["group"] == "gathered"
        others += is_speckled(rgb[None])[0] != gathered and (gathered or name == "words")
        assert (r["wrong"], r["predicted"]) == (("1", "0") if logits(rgb[None])[0][0, 0] < 0 else ("0", "1")), r
assert others <= 2, others                   # the program errs on one of 200
a, b = ({r["picture"] for r in csv.DictReader(open(n + "/gathered.csv"))} for n in ("true", "words"))
assert a != b
PYTHON

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
for name in true false; do
    [ -n "$chromium" ] || break
    timeout 100 "$chromium" --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 --user-data-dir="$dir/browser" \
        --dump-dom "file://$dir/$name/gather.html" >page 2>/dev/null
    grep -q 'data-ready="1"' page || fail "the page of $name does not draw itself"
    [ "$(grep -o '<li class="\(wrong\|right\)"' page | wc -l)" -eq 80 ] || fail "the page of $name lacks pictures"
done
[ -z "$chromium" ] || grep -q '<span class="claim not" id="verdict">not confirmed on new data' page || fail "no verdict"

# The network of the EC, for any number of threads.
run 0 "" gather found --slice 1 --run run --threads 1 --out one
run 0 "" gather found --slice 1 --run run --threads 2 --out two
cmp -s one/gathered.csv two/gathered.csv || fail "threads change the answers of the network"
grep -q '"model": "the network of EC 0 in run"' one/claim.json || fail "$(cat one/claim.json)"

# Wrong input.
refused 2 gather found --slice 1 --run run --ec 7 --out t
refused 2 gather found --slice 99 --run run --out t
refused 2 gather --text "a dog in the snow" --run run --out t
refused 2 gather --text "square orange" --run run --images seen --out t
refused 3 gather --text "no square" --run run --out t
refused 2 gather --text "square orange" --label dog --run run --out t
refused 2 gather --text "square orange" --run run --groups folders --out t
run 0 "" discover -e e.npy -y old.csv:label -p old.csv:p --method ward --no-report --no-fit --out bare
refused 3 gather bare --slice 1 --run run --out t
find run/cache -name '*model*' -delete
refused 3 gather found --slice 1 --run run --out t
[ $failed -eq 0 ]
