#!/usr/bin/env bash
# test_encoder_known.sh BUILD: a program that gives features is known by its answers to kept pictures, within what rounding
# changes, as in examine and background: embed, discover, assign and shifts; shifts starts it once a run; a file of rows names a
# model that is no path. ctest: timeout 300
set -u
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "needs python3-numpy and python3-pil"; exit 77; }
cd "$dir" || exit 1
/usr/bin/python3 - <<'END'
import os
import numpy as np
from PIL import Image
r = np.random.default_rng(5)
for k, cls in enumerate("abc"):
    os.makedirs(f"photos/{cls}")
    for i in range(24):
        picture = r.integers(0, 90, (40, 40, 3)) + 150 * (np.arange(3) == (k if i < 16 else (k + 1) % 3))
        Image.fromarray(picture.astype(np.uint8)).save(f"photos/{cls}/{i:02}.png")
np.save("y.npy", np.arange(72) // 24)
p = np.full((72, 3), 0.1, np.float32)
p[np.arange(72), (np.arange(72) // 24 + (np.arange(72) % 24 >= 16)) % 3] = 0.8
np.save("p.npy", p)
END
# The network is a file of one number, a factor of everything; each start adds a line to `starts`.
cat >program.py <<END
import os, sys
sys.path.insert(0, "$(realpath "$tests/../tools/python/examples")")
import numpy as np
from protocol import serve
factor = float(open("$dir/net.txt").read())
with open("$dir/starts", "a") as f:
    f.write("start\n")
def answer(rgb):
    x = factor * rgb.astype(np.float64).reshape(len(rgb), 4, 8, 4, 8, 3).mean((2, 4)) / 255
    return x.mean((1, 2)), x.reshape(len(x), -1), np.zeros((len(x), 0))
serve(answer)
END
network() { echo "$1" >net.txt; }
predict="/usr/bin/python3 $dir/program.py"
bits=1.0000002                             # the last bits of another machine
size=(--resize 32 --crop 32)
name() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["encoder"])' "$1"; }

# --- embed: the name is that of the answers that are kept beside the output
embed() { run 0 "" embed --predict "$predict" --images photos "${size[@]}" --out "$@"; }
mkdir one two three
network 1
embed one/e.npy
network $bits
embed one/bits.npy
embed two/e.npy
[ "$(name one/e.json)" = "$(name one/bits.json)" ] || fail "embed: the last bits make another encoder"
cp out json
run 0 "nothing to do" embed --predict "$predict" --images photos "${size[@]}" --out one/e.npy
network 1.2
run 0 "the program's answers differ" embed --predict "$predict" --images photos "${size[@]}" --out one/other.npy
[ "$(name one/e.json)" != "$(name one/other.json)" ] || fail "embed: a program that was trained again has the old name"
run 2 "of another encoder" embed --predict "$predict" --images photos "${size[@]}" --out one/e.npy

# --- discover keeps them; assign compares the answers of both folders
rows=(--labels y.npy --probs p.npy)
one=(--method ward --no-report)
run 0 "" discover --embeddings one/e.npy "${rows[@]}" "${one[@]}" --out found
run 0 "" assign found --embeddings two/e.npy "${rows[@]}" --out assigned.csv
run 3 "they cannot be compared" assign found --embeddings one/other.npy "${rows[@]}" --out x.csv
network 1
ids=(--ids one/e.csv:id --images photos)
run 0 "" discover --embed "program:$predict" "${ids[@]}" "${rows[@]}" "${size[@]}" "${one[@]}" --out asked
network $bits
run 0 "" discover --embed "program:$predict" "${ids[@]}" "${rows[@]}" "${size[@]}" "${one[@]}" --out asked
run 0 "" assign asked --embeddings one/bits.npy "${rows[@]}" --out assigned.csv

# --- shifts: one start a run, and old answers are not taken for those of another network
mkdir sets && for of in base snow rain real; do cp -r photos sets/$of; done
cat >shifts.yaml <<END
study: shifts
data: {root: sets}
shifts: [{name: snow, category: weather}, {name: rain, category: weather}]
models: [{name: asked, weights: "program:$predict", resize: 32, crop: 32}]
END
starts() { [ "$(wc -l <starts)" = "$1" ] || fail "$2: $(wc -l <starts) starts of the program, not $1"; : >starts; }
network 1
: >starts
run 0 "" shifts shifts.yaml --out shifted
starts 1 "shifts"
network $bits
run 0 "nothing to do" shifts shifts.yaml --out shifted
starts 1 "shifts again"
network 1.2
run 0 "the program's answers differ" shifts shifts.yaml --out shifted
grep -q "nothing to do" err && fail "shifts: old answers of a program that was trained again"
starts 1 "shifts of another network"

# --- a file of rows: a network's name stays, its file and no other word begins at the file's folder
printf '#!/bin/sh\necho "asked for $2" >&2\nexit 3\n' >stub && chmod +x stub
mkdir sub && cp -r photos sub/photos
asked()
{
    printf 'images: photos\n%s\n' "$1" >sub/rows.yaml
    SPOTTER_PYTHON=$dir/stub run 3 "$2" discover sub/rows.yaml "${one[@]}" --out none
}
asked "model: timm:vit_tiny:w.pt" "asked for timm:vit_tiny:sub/w.pt"
asked "model: torchvision:resnet18:/far/w.pt" "asked for torchvision:resnet18:/far/w.pt"
asked "model: timm:vit_tiny" "asked for timm:vit_tiny"
asked "model: net.onnx" "asked for sub/net.onnx"
asked "model: \"program:$dir/stub here.txt now\"" "asked for now"
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
