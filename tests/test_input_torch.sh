#!/usr/bin/env bash
# test_input_torch.sh BUILD: how a picture enters a network, by other values than the defaults, against torchvision's transforms
# and torch: features and answers of a ResNet and a ViT in embed, discover, gather, shifts; a run that is continued with other
# values mixes nothing (embed, shifts, examine, background); what cannot be is refused. 77: no torchvision. ctest: timeout 600
set -u
. "$(dirname "$0")/lib.sh"
need_packages numpy PIL torch torchvision
source=$(realpath ..)
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 PYTHONPATH=$tests SPOTTER_PYTHON=$python
"$python" input_models.py "$dir" resnet:{own,cropped,squeezed} vit:{vit_own,squeezed,tight} || fail "no networks"
numbers=(--mean 0.4,0.5,0.7 --std 0.2,0.35,0.6 --scale 127.5)
cropped=(--resize 80 --crop 64 --interpolation bicubic --pillow 12 "${numbers[@]}")
squeezed=(--size 64 --interpolation bilinear --pillow 12 --mean 0 --std 1)

# --- The predictor of weights: logits, features, channels.
"$build/test_predictor" "$dir/resnet.safetensors" "$python $source/tools/python/examples/protocol.py '$dir/net.pt'" 64 \
    0.4,0.5,0.7 0.2,0.35,0.6 127.5 >"$dir/said" || fail "predictors: $(cat "$dir/said")"
awk '!($2 <= 1e-4) { bad = 1 } END { exit bad || NR != 3 }' "$dir/said" || fail "the predictor differs: $(cat "$dir/said")"
cd "$dir" || exit 1

# near A B: rows within 1e-4, relative to the largest.
near()
{
    (cd / && "$python" - "$dir/$1" "$dir/$2" <<'END'
import sys, numpy as np
a, b = map(np.load, sys.argv[1:])
sys.exit(a.shape != b.shape or not np.abs(a - b).max() <= 1e-4 * np.abs(b).max())
END
    ) || fail "$1 differs from torch's $2"
}

# --- embed
embed=(embed --images photos --model)
run 0 "shorter side to 80, the middle 64 x 64 (bilinear); pixels / 255, less 0.485,0.456,0.406, by 0.229,0.224,0.225" \
    "${embed[@]}" resnet.safetensors --resize 80 --crop 64 --pillow 12 --out own.npy
near own.npy own.e.npy
run 0 "(bicubic); pixels / 127.5, less 0.4,0.5,0.7, by 0.2,0.35,0.6 (--mean, --std, --scale, " \
    "${embed[@]}" resnet.safetensors "${cropped[@]}" --out a.npy
near a.npy cropped.e.npy
run 2 "of another encoder" "${embed[@]}" resnet.safetensors "${cropped[@]}" --std 1 --out a.npy
run 0 "nothing to do" "${embed[@]}" resnet.safetensors "${cropped[@]}" --out a.npy
run 0 "squeezed to 64 x 64 (bilinear); pixels / 255, less 0, by 1" "${embed[@]}" resnet.safetensors "${squeezed[@]}" --out b.npy
near b.npy squeezed.e.npy
run 0 "shorter side to 64, the middle 64 x 64 (bicubic)" "${embed[@]}" vit.safetensors --pillow 12 --out c.npy
near c.npy vit_vit_own.e.npy
run 0 "" "${embed[@]}" vit.safetensors "${squeezed[@]}" --out d.npy
near d.npy vit_squeezed.e.npy
run 0 "shorter side to 72, the middle 64 x 64 (bilinear)" "${embed[@]}" vit.safetensors --resize 72 --interpolation bilinear \
    --pillow 12 "${numbers[@]}" --out e.npy
near e.npy vit_tight.e.npy

# --- discover: as many errors as torch makes; more than by the defaults, or the test says nothing.
answers()
{
    (cd / && "$python" - "$dir" "$@" <<'END'
import json, sys, numpy as np
d, found, way = sys.argv[1:]
wrong = int((np.load(f"{d}/{way}.z.npy").argmax(1) != np.arange(48) // 24).sum())
said = sum(c["wrong"] for c in json.load(open(f"{d}/{found}/slices.json"))["classes"])
sys.exit(said != wrong)
END
    ) || fail "discover: not as many errors in $1 as torch makes"
}
discover=(discover --images photos --method ward --no-report --no-fit)
run 0 "pixels / 127.5, less 0.4,0.5,0.7" "${discover[@]}" --model resnet.safetensors "${cropped[@]}" --out found
answers found cropped
run 0 "pixels / 255, less 0, by 1" "${discover[@]}" --model resnet.safetensors "${squeezed[@]}" --out found_b
answers found_b squeezed
(cd / && "$python" -c "
import numpy as np
a, b = (np.load('$dir/%s.z.npy' % w).argmax(1) for w in ('cropped', 'own'))
assert (a != b).any() and 0 < a.sum() < 48") || fail "the default answers alike"
run 0 "pictures enter vit.safetensors: shorter side to 64, the middle 64 x 64 (bicubic); pixels / 1, less 0, by 1" \
    "${discover[@]}" --model resnet.safetensors "${cropped[@]}" --embed vit.safetensors --embed-mean 0 --embed-std 1 \
    --embed-scale 1 --out found_e

# --- gather: each picture is answered as torch does.
run 0 "pixels / 127.5, less 0.4,0.5,0.7" gather --text "a red square" --images photos --label 0 --model resnet.safetensors \
    "${cropped[@]}" --encoder "$source/tools/tiny_clip/model.safetensors" --out gathered
(cd / && "$python" - "$dir" <<'END'
import csv, sys, numpy as np
d = sys.argv[1]
z = np.load(f"{d}/cropped.z.npy").argmax(1)
rows = list(csv.DictReader(open(f"{d}/gathered/gathered.csv")))
sys.exit(len(rows) < 20 or any(int(r["wrong"]) != z[int(r["picture"].split("/")[-1][:2])] for r in rows))
END
) || fail "gather: other answers than torch's"

# --- shifts: as right as torch; with another mean it looks again.
mkdir sets && for of in base snow real; do cp -r photos sets/$of; done
shifts()
{
    cat >shifts.yaml <<END
study: shifts
data: {root: sets, pillow: 12}
shifts: [{name: snow, category: weather}]
models:
  - {name: one, weights: resnet.safetensors, resize: 80, crop: 64, interpolation: bicubic, mean: "$1", std: "0.2,0.35,0.6",
     scale: 127.5}
  - {name: two, weights: resnet.safetensors, resize: -1, crop: 64, mean: "0", std: "1"}
END
}
right()
{
    (cd / && "$python" - "$dir" "$@" <<'END'
import csv, sys, numpy as np
d, good = sys.argv[1], sys.argv[2] == "same"
want = [(np.load(f"{d}/{w}.z.npy").argmax(1) == np.arange(48) // 24).mean() for w in ("cropped", "squeezed")]
rows = [r for r in csv.DictReader(open(f"{d}/shifted/shifts.csv")) if r["shift"] == "snow" and r["set"] == "all"]
same = [abs(float(r["shift_accuracy"]) - w) < 1e-12 for r, w in zip(rows, want)]
sys.exit(same != [good, True])
END
    ) || fail "shifts: not as right as torch ($1)"
}
shifts 0.4,0.5,0.7
run 0 "pictures enter resnet.safetensors: squeezed to 64 x 64 (bilinear); pixels / 255, less 0, by 1 (models[].mean" \
    shifts shifts.yaml --out shifted
right same
shifts 3
run 0 "" shifts shifts.yaml --out shifted
right other

# --- examine, background: another mean is another model, the same one is known again.
(cd "$tests" && /usr/bin/python3 examine_world.py "$dir/meshes" 2) || fail "no world"
examine=(examine --objects meshes --renders 60 --size 32 --model three.safetensors --out examined)
run 0 "pixels / 255, less 0.5, by 0.229,0.224,0.225 (models[].mean, std, scale)" "${examine[@]}" --mean 0.5
cp examined/examine.csv first.csv
run 0 "nothing to do" "${examine[@]}" --mean 0.5
run 0 "" "${examine[@]}" --mean 0.9
! cmp -s examined/examine.csv first.csv || fail "examine: another mean has the old numbers"
(cd / && "$python" - "$dir" <<'END'
import sys, numpy as np
from pathlib import Path
from PIL import Image
d, draw = Path(sys.argv[1]), np.random.default_rng(2)
for k in range(12):
    rgba = draw.integers(0, 256, (40, 40, 4), np.uint8)
    rgba[..., 3] = 255 * (np.hypot(*(np.mgrid[:40, :40] - 20)) < 12)
    (d / f"cut/c{k % 2}").mkdir(parents=True, exist_ok=True)
    (d / "scenes").mkdir(exist_ok=True)
    Image.fromarray(rgba).save(d / f"cut/c{k % 2}/{k}.png")
    Image.fromarray(draw.integers(0, 256, (40, 40, 3), np.uint8)).save(d / f"scenes/{k}.png")
END
) || fail "no cut-outs"
background=(background --images cut --backgrounds scenes --n 2 --size 32 --model resnet.safetensors --out behind)
run 0 "pixels / 1, less 0.485,0.456,0.406, by 100 (models[].mean, std, scale)" "${background[@]}" --std 100 --scale 1
cp behind/models.csv first.csv
run 0 "nothing to do" "${background[@]}" --std 100 --scale 1
run 0 "" "${background[@]}" --std 3
! cmp -s behind/models.csv first.csv || fail "background: another std has the old numbers"

# --- The package's predictor has the same options, and gets them.
"$python" "$source/tests/any_models.py" "$dir" 1
run 0 "pixels / 127.5, less 0.4,0.5,0.7, by 0.2,0.35,0.6" "${embed[@]}" net.ts "${cropped[@]}" --out f.npy
run 0 "pixels / 127.5, less 0.4,0.5,0.7, by 0.2,0.35,0.6" "${embed[@]}" resnet.safetensors "${cropped[@]}" --out g.npy
run 0 "" embed --predict "$python $source/tools/python/spotter/predictor.py net.ts ${numbers[*]}" --images photos --resize 80 \
    --crop 64 --interpolation bicubic --pillow 12 --out h.npy
cmp f.npy h.npy || fail "the predictor's own options say another thing"

# --- What cannot be.
new=(--images photos --out none.npy)
refused 2 embed --model resnet.safetensors "${new[@]}" --std 0
refused 2 embed --model resnet.safetensors "${new[@]}" --std 1,-1,1
refused 2 embed --model resnet.safetensors "${new[@]}" --mean nan
refused 2 embed --model resnet.safetensors "${new[@]}" --mean 1,2,3,4
refused 2 embed --model resnet.safetensors "${new[@]}" --mean 1,2
refused 2 embed --model resnet.safetensors "${new[@]}" --scale 0
refused 2 embed --model resnet.safetensors "${new[@]}" --size 65
refused 2 embed --model resnet.safetensors "${new[@]}" --size 64 --crop 64
refused 2 embed --model vit.safetensors "${new[@]}" --crop 224
refused 2 embed --model neutral "${new[@]}" --mean 0.5
refused 2 embed --predict true "${new[@]}" --mean 0.5
refused 2 embed --model net.ts "${new[@]}" --std 0
refused 2 discover --images photos --embed vit.safetensors --labels y.npy --probs p.npy --ids i.csv --mean 0.5 --out none
refused 2 discover --images photos --model resnet.safetensors --embed-mean 0.5 --out none
refused 2 examine --objects meshes --predict true --mean 0.5 --out none
refused 2 background --images cut --backgrounds scenes --model resnet.safetensors --std 0 --out none
sed -i 's/mean: "3"/mean: "3,x"/' shifts.yaml
refused 2 shifts shifts.yaml --out none
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
