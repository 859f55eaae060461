#!/usr/bin/env bash
# test_config_files.sh BUILD: each study looks for every file that its config names before its first long work: nothing is made
# or trained for a config with a wrong path, whichever setting has it.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
clip=$(cd ../tools/tiny_clip && pwd)/model.safetensors
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "no NumPy or PIL: skipped"; exit 77; }
cd "$dir" || exit 1

# stops CODE WORDS STUDY CONFIG: the study ends so, with words about the setting, and the run directory holds nothing.
stops()
{
    rm -rf made
    refused "$1" "$3" "$4" --out made -t 1
    grep -qF -- "$2" err || fail "$3 $4: no word of $2: $(tail -c 300 err)"
    [ -z "$(find made -type f 2>/dev/null)" ] || fail "$3 $4: it has made $(find made -type f | head -3)"
}

# --- A planted world of shifts: 300 pictures of training that nobody should wait for.
planted()
{
    cat <<YAML
study: shifts
plant: {pictures: 2, real: 2, models: 1, train: 300, epochs: 200, classes: 2, truth: 2, shifts: 1, confounded: 0}
encoder: {weights: $1}
shifts: [{name: green background, shift_caption: a photo on a green background${2-}}]
YAML
}
echo 'no encoder' >text.safetensors
planted nowhere.safetensors >encoder.yaml
planted text.safetensors >text.yaml
{ planted "$clip" ", threshold: 0.1" && echo "filter: {chosen_for: clip-0123456789abcdef}"; } >threshold.yaml
{ planted "$clip" && echo 'models: [{name: mine, weights: nowhere.safetensors, resize: 64, crop: 64}]'; } >model.yaml
{ planted "$clip" && echo 'models: [{name: mine, predictions: nowhere.csv}]'; } >table.yaml
stops 4 encoder.weights shifts encoder.yaml
stops 3 text.safetensors shifts text.yaml
stops 2 "chosen for the encoder" shifts threshold.yaml
stops 4 'models[0].weights' shifts model.yaml
stops 4 'models[0].predictions' shifts table.yaml

# --- A planted zoo.
/usr/bin/python3 - <<'PY' || exit 1
import os
from PIL import Image, ImageDraw
for k, folder in enumerate(("animals/mammals/bovines", "animals/birds")):
    os.makedirs(f"stamps/{folder}")
    im = Image.new("RGBA", (60, 60))
    ImageDraw.Draw(im).polygon([(2, 54), (30, 2), (58, 54), (30, 58)][:3 + k], fill=(220, 200, 180, 255))
    im.save(f"stamps/{folder}/a.png")
for k, folder in enumerate(("leaf", "sea")):
    os.makedirs(f"scenes/{folder}/images")
    Image.effect_noise((80, 60), 60 + 40 * k).convert("RGB").save(f"scenes/{folder}/images/1.png")
PY
zoo()
{
    cat <<YAML
study: background
zoo: {stamps: stamps, scenes: scenes, size: 32, classes: 2, families: 2, targets: 3, backgrounds: 3, models: 1, train: 900,
      epochs: 30, tested: 20}
suite: {n: 3}
measure: {levels: 2, grid: 12, kernel: 4, sigma: 2}
YAML
}
{ zoo && echo 'encoders: [{name: e, weights: nowhere.safetensors}]'; } >zoo_encoder.yaml
{ zoo && echo 'encoders: [{name: e, weights: text.safetensors}]'; } >zoo_text.yaml
{ zoo && echo 'models: [{name: mine, weights: nowhere.safetensors}]'; } >zoo_model.yaml
{ zoo && echo "models: [{name: mine, weights: $clip, classes: nowhere.txt}]"; } >zoo_classes.yaml
stops 4 'encoders[0].weights' background zoo_encoder.yaml
stops 3 text.safetensors background zoo_text.yaml
stops 4 'models[0].weights' background zoo_model.yaml
stops 4 'models[0].classes' background zoo_classes.yaml

# --- A network that examine would train before it looks for the second one's file.
/usr/bin/python3 "$tests/examine_world.py" world 2 || exit 1
cat >examine.yaml <<'YAML'
study: examine
objects: {catalogue: world, choice: first, held_out: 0.5}
render: {size: 32, samples: 1}
search: {renders: 60, points: "60", perturbed: 4, seeds: 1}
models: [{name: net, objects: 1, renders: 300, epochs: 200}, {name: own, weights: nowhere.safetensors}]
examiners: [{method: random}]
YAML
stops 4 'models[1].weights' examine examine.yaml
sed 's/weights: nowhere.safetensors/weights: text.safetensors, classes: nowhere.txt/' examine.yaml >examine_classes.yaml
stops 4 'models[1].classes' examine examine_classes.yaml

# --- The features of phrases, before the pictures are decoded for their attributes.
/usr/bin/python3 - <<'PY' || exit 1
import os
import numpy as np
from PIL import Image
r, n = np.random.default_rng(0), 40
p = np.full((n, 2), 0.5, "f4")
np.save("e.npy", r.normal(size=(n, 4)).astype("f4")), np.save("y.npy", np.arange(n) % 2), np.save("p.npy", p)
os.makedirs("photos")
for i in range(n):
    Image.fromarray(r.integers(0, 256, (9, 9, 3), dtype="u1")).save(f"photos/{i:02}.png")
open("ids.csv", "w").write("id\n" + "".join(f"{i:02}.png\n" for i in range(n)))
open("words.txt", "w").write("a dark photo\n")
PY
rm -rf made
refused 4 discover --embeddings e.npy --labels y.npy --probs p.npy --ids ids.csv:id --images photos --words words.txt \
    --word-embeddings nowhere.npy --out made
! grep -q 'attributes of' err || fail "discover: it decodes the pictures first: $(cat err)"

# --- The classifier, probabilities and groups of gather, before pictures are compared with the phrase: here there are none.
mkdir none
for file in "--model nowhere.safetensors" "--ids ids.csv:id --probs nowhere.npy" "--groups nowhere.csv:group"; do
    # shellcheck disable=SC2086
    refused 4 gather --text "a dark photo" --images none --encoder "$clip" --label 0 $file --out made
    grep -q nowhere err || fail "gather $file: $(cat err)"
done
exit $failed
