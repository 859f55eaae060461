#!/usr/bin/env bash
# test_vit_classifier.sh BUILD: a vision transformer with a head is a classifier in discover, shifts and examine: its errors are
# those of a forward pass in PyTorch (vit_models.py); another side than its own is refused. 77: no torch. ctest: timeout 300
set -u
. "$(dirname "$0")/lib.sh"
PYTHON=/usr/bin/python3 need_packages numpy PIL torch
/usr/bin/python3 examine_world.py "$dir/meshes" 2 || fail "no world"
export OMP_NUM_THREADS=1
cd "$dir" || exit 1
/usr/bin/python3 - "$tests" <<'END' || fail "no network"
import os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, torch
from PIL import Image
from network_models import save
import vit_models
width, heads, blocks, patch, across, registers, placed, scale, outputs, write = vit_models.cases["mean"]
state = vit_models.make(width, blocks, patch, across, registers, placed, scale, 3, "fc_norm")
side = across * patch
r = np.random.default_rng(3)
pictures = []
for cls in "abc":
    os.makedirs(f"photos/{cls}")
    for i in range(24):
        tint = r.integers(0, 200, 3)
        picture = np.clip(r.integers(0, 56, (side, side, 3)) + tint, 0, 255).astype(np.uint8)
        Image.fromarray(picture).save(f"photos/{cls}/{i:02}.png")
        pictures.append(picture)
_, logit = vit_models.look(state, torch.tensor(np.stack(pictures)), heads, patch, placed, "fc_norm")
state["head.bias"] -= logit.mean(0).float()                # so that it answers every class
save("vit.safetensors", state)
np.save("answer.npy", (logit - logit.mean(0).float()).argmax(1).numpy())
np.save("y.npy", np.arange(72) // 24)
assert len(set(np.load("answer.npy"))) == 3
END
side=48
run 0 "" discover --model vit.safetensors --images photos --resize $side --crop $side --method ward --no-report --out found
/usr/bin/python3 - <<'END' || fail "discover: not as many errors as torch makes"
import json, numpy as np
wrong = int((np.load("answer.npy") != np.load("y.npy")).sum())
assert 0 < wrong < 72 and sum(c["wrong"] for c in json.load(open("found/slices.json"))["classes"]) == wrong
END
run 2 "looks at squares of 48 pixels" discover --model vit.safetensors --images photos --resize 64 --crop 64 --out none
mkdir sets && for of in base snow real; do cp -r photos sets/$of; done
cat >shifts.yaml <<END
study: shifts
data: {root: sets}
shifts: [{name: snow, category: weather}]
models: [{name: vit, weights: vit.safetensors, resize: $side, crop: $side}]
END
run 0 "" shifts shifts.yaml --out shifted
/usr/bin/python3 - <<'END' || fail "shifts: not as right as torch"
import csv, numpy as np
right = (np.load("answer.npy") == np.load("y.npy")).mean()
rows = [r for r in csv.DictReader(open("shifted/shifts.csv")) if r["shift"] == "snow" and r["set"] == "all"]
assert len(rows) == 1 and abs(float(rows[0]["shift_accuracy"]) - right) < 1e-12
END
sed -i 's/crop: 48/crop: 64/' shifts.yaml
run 3 "looks at squares of 48 pixels, and crop is 64" shifts shifts.yaml --out other
# 96 pixels: a multiple of 32, as every network's renders are
/usr/bin/python3 - "$tests" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from network_models import save
import vit_models
save("wide.safetensors", vit_models.make(192, 2, 16, 6, 0, 1, False, 3, ""))
END
printf 'box\ncylinder\npyramid\n' >outputs.txt
run 0 "" examine --objects meshes --renders 60 --size 96 --model wide.safetensors --out e
run 0 "nothing to do" examine --objects meshes --renders 60 --size 96 --model wide.safetensors --out e
run 2 "looks at squares of 96 pixels" examine --objects meshes --renders 60 --size 64 --model wide.safetensors --out e2
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
