#!/usr/bin/env bash
# test_any_model.sh BUILD: models that Spotter does not run itself, by the Python package's predictor: the same features and
# answers as torch's own, in embed, discover, shifts and examine; --predict in the same places; nothing is loaded from the current
# directory, and no pickle. PYTHON: one with torch and torchvision; ONNX_PYTHON: one with onnx and onnxruntime, where that of
# tools/setup --tests shall not be taken. ctest: timeout 600
set -u
. "$(dirname "$0")/lib.sh"
need_packages numpy PIL torch torchvision
onnx=${ONNX_PYTHON:-$(python_with onnx onnxruntime)}
package=$(realpath ../tools/python)
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
"$python" any_models.py "$dir" 1 net mobilenet || fail "no networks"
/usr/bin/python3 examine_world.py "$dir/meshes" 2 || fail "no world"
cd "$dir" || exit 1
echo 'raise SystemExit("loaded from the current directory")' | tee torch.py numpy.py spotter.py >runpy.py
size=(--resize 64 --crop 64)

# near FILE [NET]: rows within 1e-4 of torch's, relative to the largest.
near()
{
    (cd / && /usr/bin/python3 - "$dir/$1" "$dir/${2:-net}.e.npy" <<'END'
import sys, numpy as np
a, b = map(np.load, sys.argv[1:])
sys.exit(a.shape != b.shape or not np.abs(a - b).max() <= 1e-4 * np.abs(b).max())
END
    ) || fail "$1 differs from torch's own numbers"
}

# --- Every form, in embed.
forms=(net.ts)
[ ! -e net.pt2 ] || forms+=(net.pt2)
if [ -e net.onnx ] && [ -n "$onnx" ]; then forms+=(net.onnx)
else echo "no Python with onnx and onnxruntime: net.onnx is left out"; fi
for f in "${forms[@]}"; do
    export SPOTTER_PYTHON=$python
    [ "$f" != net.onnx ] || SPOTTER_PYTHON=$onnx
    run 0 "3 outputs, 12 numbers of embedding" embed --model "$f" --images photos "${size[@]}" --out "${f/./_}.npy"
    near "${f/./_}.npy"
done
export SPOTTER_PYTHON=$python
run 0 "" embed --predict "$python $package/spotter/predictor.py net.ts" --images photos "${size[@]}" --out predicted.npy
near predicted.npy
SPOT_PREDICTOR_DIR=/nowhere PYTHONPATH=$package SPOTTER_LIBRARY=$build/libspotter.so \
    run 0 "" embed --model ./net.ts --images photos "${size[@]}" --out installed.npy
near installed.npy
run 0 "" embed --model torchvision:mobilenet_v3_small:weights.pt --images photos "${size[@]}" --out mobile.npy
near mobile.npy mobilenet

# --- What cannot be opened says so.
run 3 "cannot be read as weights alone, without code" embed --model torchvision:mobilenet_v3_small:pickle.pt --images photos \
    --out x.npy
run 3 "a network without weights" embed --model torchvision:mobilenet_v3_small --images photos --out x.npy
run 3 "there is no file none.onnx" embed --model none.onnx --images photos --out x.npy
run 3 "torchvision has no network resnet17" embed --model torchvision:resnet17:weights.pt --images photos --out x.npy
SPOTTER_PYTHON=/nowhere/python3 run 3 "/nowhere/python3" embed --model net.ts --images photos --out x.npy
run 2 "--model and --predict both name the model" embed --model net.ts --predict x --images photos --out x.npy

# --- discover: the same rows from a file and from a program as from arrays.
(cd / && /usr/bin/python3 -c "
import numpy as np
z = np.load('$dir/net.z.npy').astype(float)
p = np.exp(z - z.max(1, keepdims=True))
np.save('$dir/p.npy', (p / p.sum(1, keepdims=True)).astype('f4'))
np.save('$dir/y.npy', np.arange(72) // 24)")
one=(--method ward --no-report)
run 0 "" discover --model net.ts --images photos "${size[@]}" "${one[@]}" --out found
run 0 "" discover --predict "$python $package/spotter/predictor.py net.ts" --images photos "${size[@]}" "${one[@]}" --out asked
cmp found/slices.csv asked/slices.csv || fail "discover: --predict differs from --model"
(cd / && /usr/bin/python3 - "$dir" <<'END'
import json, sys, numpy as np
d = sys.argv[1]
wrong = int((np.load(f"{d}/p.npy").argmax(1) != np.load(f"{d}/y.npy")).sum())
said = json.load(open(f"{d}/found/slices.json"))
total = sum(c["wrong"] for c in said["classes"])
sys.exit(total != wrong)
END
) || fail "discover: not as many errors as torch makes"

# --- shifts: a file and a program are as right as torch.
mkdir sets && for of in base snow real; do cp -r photos sets/$of; done
cat >shifts.yaml <<END
study: shifts
data: {root: sets}
shifts: [{name: snow, category: weather}]
models:
  - {name: file, weights: net.ts, resize: 64, crop: 64}
  - {name: asked, weights: "program:$python $package/spotter/predictor.py net.ts", resize: 64, crop: 64}
END
run 0 "" shifts shifts.yaml --out shifted
(cd / && /usr/bin/python3 - "$dir" <<'END'
import csv, sys, numpy as np
d = sys.argv[1]
right = (np.load(f"{d}/net.z.npy").argmax(1) == np.load(f"{d}/y.npy")).mean()
rows = [r for r in csv.DictReader(open(f"{d}/shifted/shifts.csv")) if r["shift"] == "snow" and r["set"] == "all"]
sys.exit(len(rows) != 2 or any(abs(float(r["shift_accuracy"]) - right) > 1e-12 for r in rows))
END
) || fail "shifts: not as right as torch"

# --- examine: a file that was trained again behind the same name.
examine=(examine --objects meshes --renders 60 --size 32 --model net.ts --out e)
printf 'box\ncylinder\npyramid\n' >outputs.txt
run 0 "" "${examine[@]}"
run 0 "nothing to do" "${examine[@]}"
(cd "$tests" && "$python" any_models.py "$dir" 2) || fail "no second network"
run 0 "the program's answers differ" "${examine[@]}"
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
