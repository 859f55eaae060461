#!/usr/bin/env bash
# test_room.sh BUILD: little memory, too many threads, pipes and a picture of 40 million pixels. Every command ends, with its
# result or with a sentence before it began, and takes no more memory than it said.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
clip=$(cd ../tools/tiny_clip && pwd)/model.safetensors
cd "$dir" || exit 1
export OMP_WAIT_POLICY=passive

# ends_itself ARGS...: spotter within 60 s; a hang that SIGTERM does not end is killed. Sets `code`.
ends_itself()
{
    timeout -s KILL 60 "$spotter" "$@" >out 2>err </dev/null
    code=$?
    [ $code -ne 137 ] || fail "$* hangs"
    [ $code -lt 128 ] || fail "$*: a signal ends it ($code): $(tail -c 300 err)"
}

# within LETTER MB ARGS...: the same under `ulimit -LETTER` of so many megabytes.
within()
{
    (ulimit "-$1" $(($2 * 1024)); ends_itself "${@:3}"; echo $code >code; exit $failed) || failed=$((failed + 1))
    code=$(cat code)
}

/usr/bin/python3 -W ignore - <<'PY' || exit 1
import os, struct, zlib
import numpy as np
from PIL import Image
r = np.random.default_rng(0)
n = 600
e, y, p = r.normal(size=(n, 16)).astype("f4"), r.integers(0, 3, n), r.random((n, 3)).astype("f4")
p[np.arange(n), y] += e[:, 0] < .8
np.save("e.npy", e), np.save("y.npy", y), np.save("p.npy", p / p.sum(1, keepdims=True))
np.save("few_e.npy", e[:60]), np.save("few_y.npy", y[:60]), np.save("few_p.npy", p[:60] / p[:60].sum(1, keepdims=True))
wide, many = r.normal(size=(4000, 64)).astype("f4"), r.integers(0, 4, 4000)
p = r.random((4000, 4)).astype("f4")
p[np.arange(4000), many] += wide[:, 0] < .8
np.save("wide_e.npy", wide), np.save("wide_y.npy", many), np.save("wide_p.npy", p / p.sum(1, keepdims=True))
small = [Image.fromarray((r.random((80, 90, 3)) * 255).astype("u1")) for i in range(6)]
huge = small[0].resize((6750, 6000), Image.NEAREST)
mask = np.zeros((80, 90), "u1")
mask[20:60, 20:60] = 255
for c in "ab":
    for f in "real", "base", "fog", "huge_base", "im", "mask", "huge_im":
        os.makedirs(f"{f}/{c}")
    for i in range(4):
        for f in "real", "base", "fog", "huge_base", "im", "huge_im":
            (huge if (f[:4], c, i) == ("huge", "a", 1) else small[i]).save(f"{f}/{c}/{i}.png", compress_level=1)
        Image.fromarray(mask).save(f"mask/{c}/{i}.png")
    os.makedirs(f"more/{c}"), os.makedirs(f"more_mask/{c}")
    for i in range(10):
        Image.fromarray((r.random((80, 90, 3)) * 255).astype("u1")).save(f"more/{c}/{i}.png", compress_level=1)
        Image.fromarray(mask).save(f"more_mask/{c}/{i}.png")
os.makedirs("vast/a")                                                     # 160 million pixels, by its header
png = bytearray(open("im/a/0.png", "rb").read())
png[16:24] = struct.pack(">II", 20000, 8000)
png[29:33] = struct.pack(">I", zlib.crc32(png[12:29]))
open("vast/a/0.png", "wb").write(png)
for f in "back", "huge_back":
    os.makedirs(f)
    for i in range(6):
        (huge if (f[:4], i) == ("huge", 1) else small[i]).save(f"{f}/{i}.png", compress_level=1)
PY
cat >tiny.yaml <<'YAML'
seed: 1
ecs: 1
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 8, val: 4, test: 8}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{reduce: pca, mixture: {k_max: 4}}]
YAML
cat >planted.yaml <<YAML
study: shifts
plant: {pictures: 2, real: 2, models: 1, train: 32, epochs: 1, classes: 2, truth: 2, shifts: 1, confounded: 0}
encoder: {weights: $clip}
shifts: [{name: green background, shift_caption: a photo on a green background}]
YAML

# --- Threads. OMP_NUM_THREADS decides nothing, so a huge number changes nothing; a huge --threads is refused.
for study in "sweep tiny.yaml" "shifts planted.yaml"; do
    # shellcheck disable=SC2086
    ends_itself $study --out "${study%% *}" --device cpu -t 2
    [ $code -eq 0 ] || fail "$study: $code: $(tail -c 300 err)"
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=100000 ends_itself $study --out "many_${study%% *}" --device cpu -t 2
    [ $code -eq 0 ] || fail "$study with 100,000 OpenMP threads: $code: $(tail -c 300 err)"
    diff -r "${study%% *}/segments" "many_${study%% *}/segments" >diff 2>&1 ||
        fail "OMP_NUM_THREADS changes $study: $(head -3 diff)"
done
for study in "sweep tiny.yaml" "shifts planted.yaml" "background planted.yaml" "examine planted.yaml"; do
    # shellcheck disable=SC2086
    run 2 "--threads takes an integer from 0 to 1024" $study --out never --threads 100000
done

# --- Addresses. OpenBLAS tries for ever where it gets no buffer: what it will map is counted before.
found=0
for mb in 150 390 400 410 430 480 560 620 900 1200; do
    rm -rf f
    within v $mb discover --embeddings e.npy --labels y.npy --probs p.npy --out f -t 2
    [ "$code" -eq 0 ] || [ "$code" -eq 6 ] || fail "discover with $mb MB of addresses: $code: $(tail -c 300 err)"
    [ "$code" -ne 6 ] || grep -q 'MB of addresses' err || fail "discover with $mb MB of addresses: $(tail -c 300 err)"
    [ "$code" -ne 0 ] || found=$((found + 1))
done
[ $found -ge 2 ] || fail "discover does not run with 1.2 GB of addresses"
within d 300 discover --embeddings e.npy --labels y.npy --probs p.npy --out f -t 2
[ "$code" -eq 6 ] || fail "discover with 300 MB of data: $code: $(tail -c 300 err)"

# --- Pipes where files are meant, in findings of a stranger.
run 0 "" discover --embeddings e.npy --labels y.npy --probs p.npy --out found -t 2
for file in fit.safetensors slices.json subject.safetensors map.npy config.yaml; do
    rm -rf pipe && cp -r found pipe && rm pipe/$file && mkfifo pipe/$file || fail "mkfifo pipe/$file"
    for words in "assign pipe --embeddings e.npy --probs p.npy --out rows.csv" "report pipe -o page.html" "status pipe"; do
        # shellcheck disable=SC2086
        ends_itself $words
    done
done
rm -rf pipe && cp -r found pipe && rm pipe/fit.safetensors && mkfifo pipe/fit.safetensors
run 3 "is a device or a pipe" assign pipe --embeddings e.npy --probs p.npy --out rows.csv

# --- A pipe of one's own is waited for, until the program is asked to end.
for words in "plan /dev/fd/7" "background --images im --coco /dev/fd/7 --backgrounds back --model net.safetensors --out never"; do
    mkfifo waits && exec 7<>waits
    # shellcheck disable=SC2086
    timeout -k 20 1 "$spotter" $words >out 2>err </dev/null
    code=$?                                # 124: SIGTERM ended it; 137: it did not
    [ $code -eq 124 ] || [ $code -eq 3 ] || fail "$words: $code: $(tail -c 300 err)"
    exec 7>&- && rm waits
done

# --- A picture of 40 million pixels: the memory that is stated is enough, and not much more. A study of backgrounds whose
# suite is there decodes while its models look, and states the sum of both.
states()  # MOST ARGS...: peak and statement of a run that ends well; MOST: the statement as a multiple of the peak
{
    /usr/bin/python3 - "$1" "$spotter" "${@:2}" <<'PY' || fail "${*:2}: memory"
import os, re, sys
pid = os.fork()
if not pid:
    os.dup2(os.open("said", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
    os.dup2(2, 1)
    os.execv(sys.argv[2], sys.argv[2:])
_, how, spent = os.wait4(pid, 0)
text = open("said", errors="replace").read()
said = re.search(r"([0-9.]+) (MB|GB) of memory", text)
assert how == 0 and said, text[-600:]
said, peak = float(said[1]) * {"MB": 1e6, "GB": 1e9}[said[2]], spent.ru_maxrss * 1024
assert peak <= said <= float(sys.argv[1]) * peak, f"stated {said / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB"
PY
}
states 1.5 embed --model "$clip" --images im --out stated.npy -t 2
states 1.5 embed --model neutral --images im --out neutral.npy -t 2
states 1.5 discover --embeddings e.npy --labels y.npy --probs p.npy --out stated -t 2
states 1.5 discover --embeddings few_e.npy --labels few_y.npy --probs few_p.npy --class all -m kmeans --out stated_few -t 2
states 1.5 discover --embeddings wide_e.npy --labels wide_y.npy --probs wide_p.npy --out stated_wide -t 2
cp shifts/plant/models/*.safetensors net.safetensors
for base in base huge_base; do
    cat >shifts_$base.yaml <<YAML
study: shifts
data: {root: ., real: real, base: $base}
encoder: {weights: $clip}
models: [{name: m, weights: net.safetensors, resize: 64, crop: 64}]
shifts: [{name: fog, shift_caption: a photo in the fog}]
YAML
done
sed 's/train: 32,/train: 128, size: 224,/' planted.yaml >wide.yaml                 # its world takes more than its run
states 1.5 shifts wide.yaml --out wide -t 2
ground=(--masks mask --model net.safetensors --n 4 --size 64 -t 2)
states 1.5 shifts shifts_huge_base.yaml --out s_huge -t 2
states 1.5 background --images huge_im --backgrounds back "${ground[@]}" --out b_huge
states 1.5 background --images im --backgrounds huge_back "${ground[@]}" --out g_huge
many=$(printf ', {name: m%d, weights: net.safetensors}' $(seq 16))
cat >models.yaml <<YAML
study: background
data: {images: more, masks: more_mask, backgrounds: back, size: 64}
suite: {n: 6}
models: [${many#, }]
YAML
states 1.5 background models.yaml --out models -t 2
rm -r g_huge/segments g_huge/responses
states 1.5 background --images im --backgrounds huge_back "${ground[@]}" --out g_huge
mkdir -p objects/a objects/b
{
    printf 'v %s\n' '0 0 0' '1 0 0' '1 1 0' '0 1 0' '0 0 1' '1 0 1' '1 1 1' '0 1 1'
    printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '2 3 7 6' '3 4 8 7' '4 1 5 8'
} | tee objects/a/cube.obj >objects/b/cube.obj
cat >examine.yaml <<'YAML'
study: examine
objects: {catalogue: objects, held_out: 1.0}
classes: [{name: a}, {name: b}]
render: {size: 64, pictures: huge_back}
models: [{name: m, weights: net.safetensors}]
search: {renders: 60, points: "10, 60", seeds: 1, perturbed: 4}
examiners: [{method: random}]
YAML
states 1.5 examine examine.yaml --out x_huge -t 2

# --- Addresses in the other studies: oneDNN ends the process by a signal where it gets none, so they are counted before. A
# planted world is not begun.
for mb in 655 660 665 690; do
    for words in "shifts shifts_base.yaml" "shifts planted.yaml" "examine examine.yaml" \
        "background --images im --backgrounds back ${ground[*]}" "embed --model $clip --images im"; do
        rm -rf narrow narrow.*
        # shellcheck disable=SC2086
        within v $mb $words --out "$([ "${words%% *}" = embed ] && echo narrow.npy || echo narrow)" -t 2
        [ "$code" -eq 0 ] || [ "$code" -eq 6 ] || fail "$words with $mb MB of addresses: $code: $(tail -c 300 err)"
        [ "$code" -ne 6 ] || [ ! -e narrow/plant ] || fail "$words with $mb MB of addresses: a world is begun"
    done
done

# --- Where less is left it is refused before, and a run with small pictures still works there.
mb=740
within v $mb background --images vast --backgrounds back "${ground[@]}" --out never
[ "$code" -eq 6 ] && grep -q 'leaves' err && [ ! -e never ] || fail "background with $mb MB: $code: $(tail -c 300 err)"
within v $mb embed --model neutral --images vast --out never.npy
[ "$code" -eq 6 ] && grep -q '20000 x 8000' err || fail "embed with $mb MB: $code: $(tail -c 300 err)"
within v $mb background --images im --backgrounds back "${ground[@]}" --out small
[ "$code" -eq 0 ] || fail "small pictures with $mb MB of addresses: $code: $(tail -c 300 err)"

# --- A plan of a study of shifts.
for config in planted.yaml shifts_huge_base.yaml; do
    run 0 "" plan $config -t 2
    grep -q '^memory ' out && grep -q '^disk ' out && grep -q '^time ' out || fail "plan $config: $(cat out)"
    run 0 "" plan $config --json --quick -t 2
    /usr/bin/python3 -c 'import json; j = json.load(open("out")); assert j["memory_bytes"] > 2e7 and j["seconds"] is None' ||
        fail "plan $config --json: $(cat out)"
done

[ $failed -eq 0 ] && echo "everything ended, within the memory that it stated"
exit $failed
