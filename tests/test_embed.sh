#!/usr/bin/env bash
# test_embed.sh BUILD: spotter embed with a tiny CLIP: what it writes, how it goes on after a stop, what it refuses.
set -u
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 random_clip.py "$dir/t" || exit 1
cd "$dir/t" || exit 1
clip=clip/model.safetensors
photos="--model $clip --images photos"

# python CODE ARGS...: with load(FILE), the rows and the metadata of a .safetensors file.
python()
{
    /usr/bin/python3 - "${@:2}" <<END || fail "$1"
import csv, json, struct, sys
import numpy as np

def load(path):
    b = open(path, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    t = json.loads(b[8:8 + n])
    e = t["embeddings"]
    v = np.frombuffer(b[8 + n:], {"F32": "<f4", "F16": "<f2"}[e["dtype"]]).reshape(e["shape"])
    return v.astype("f8"), t["__metadata__"]

def ids(path):
    return [r["id"] for r in csv.DictReader(open(path, newline=""))]

a = sys.argv[1:]
$1
END
}

# --- pictures, texts and captions
run 0 "6 pictures by $clip (clip-" embed $photos --out e.safetensors
[ "$(cat "$dir/out")" = "$(printf 'e.safetensors\ne.csv')" ] || fail "stdout: $(cat "$dir/out")"
[ ! -e e.safetensors.part ] || fail "a finished command leaves its .part"
python '
v, m = load("e.safetensors")
assert v.shape == (6, 8) and np.allclose((v * v).sum(1), 1, atol=1e-6) and len({r.tobytes() for r in v}) == 6
assert ids("e.csv") == ["top.png", "cat/1.png", "cat/2.png", "dog/1.png", "dog/b.png", "dog/more/1.png"], ids("e.csv")
assert m["encoder"].startswith("clip-") and len(m["encoder"]) == 21 and m["kind"] == "clip" and m["rows"] == "6"
assert m["model"] == "model.safetensors" and m["rows_of"] == "images" and m["skipped"] == "0"'
run 0 "nothing to do: e.safetensors" embed $photos --out e.safetensors --json
python 'j = json.load(open(a[0])); assert j["rows"] == 6 and j["dim"] == 8 and j["ids"] == "e.csv", j' "$dir/out"
run 0 "" embed $photos --out one.safetensors --threads 1
cmp -s e.safetensors one.safetensors || fail "one thread has other bytes"
run 0 "" embed $photos --out h.safetensors --half
python 'v, h = load("e.safetensors")[0], load("h.safetensors")[0]; assert (h == v.astype("f2").astype("f8")).all()'
run 0 "" embed $photos --out e2.npy
python 'assert (np.load("e2.npy") == load("e.safetensors")[0]).all() and open("e2.csv").read() == open("e.csv").read()
assert json.load(open("e2.json"))["encoder"] == load("e.safetensors")[1]["encoder"]'
run 0 "nothing to do" embed $photos --out e2.npy
run 0 "" embed $photos --coco boxes.json --out c.safetensors
python 'v, w = load("e.safetensors")[0], load("c.safetensors")[0]
i, k = ids("e.csv"), ids("c.csv")
assert k == ["top.png", "dog/more/1.png", "dog/b.png", "dog/1.png", "cat/2.png", "cat/1.png"], k
assert max(abs(w[k.index(n)] - v[i.index(n)]).max() for n in i) < 1e-6'
run 0 "4 texts by" embed --model $clip --texts texts.txt --out t.safetensors
run 0 "" embed --model $clip --coco captions.json --out cap.safetensors
python 'v, m = load("t.safetensors")
assert v.shape == (4, 8) and np.allclose((v * v).sum(1), 1, atol=1e-6) and m["rows_of"] == "texts"
assert (v == load("cap.safetensors")[0]).all() and ids("t.csv") == ["a cat", "dog, dog", "\x27=do", "a \"cat\""], ids("t.csv")
assert [r["image"] for r in csv.DictReader(open("cap.csv"))] == ["top.png", "dog/more/1.png", "dog/b.png", "top.png"]'

# --- facts that the config tells can be told, and a change of them changes the name
mkdir bare && cp $clip clip/merges.txt bare
refused 3 embed --model bare/model.safetensors --images photos --out b.safetensors
refused 2 embed --model bare/model.safetensors --images photos --heads 2,x --out b.safetensors
refused 2 embed --model bare/model.safetensors --images photos --heads 2 --end-token first --out b.safetensors
run 0 "" embed --model bare/model.safetensors --images photos --heads 2,2 --activation quick_gelu --end-token greatest \
    --out b.safetensors
cmp -s b.safetensors e.safetensors || fail "told facts give other bytes"
run 0 "" embed $photos --activation gelu --out g.safetensors
python 'assert load("g.safetensors")[1]["encoder"] != load("e.safetensors")[1]["encoder"]'

# --- what discover reads
printf '%s\n' label 0 1 1 0 0 1 > y.csv
printf '%s\n' p 0.9 0.2 0.1 0.8 0.3 0.7 > p.csv
run 0 "" discover --no-proof --embeddings e.safetensors:embeddings --ids e.csv:id --images photos --labels y.csv:label --probs p.csv:p \
    --least 2 --class all --method domino --no-report --out found
[ -s found/slices.json ] || fail "discover made nothing of embed's rows"
rows="--ids e.csv:id --images photos --labels y.csv:label --probs p.csv:p"
how="--least 2 --class all --method domino --no-report"
run 0 "6 pictures, embedded by $clip (clip-" discover --no-proof $rows --embed $clip $how --out seen
cmp -s found/slices.csv seen/slices.csv || fail "--embed finds other slices than --embeddings with the same rows"
python 'for f in ("found", "seen"):
    s = json.load(open(f + "/slices.json"))["subject"]
    assert s["features"] == 8 and s["encoder"] == load("e.safetensors")[1]["encoder"], s'
refused 2 discover --no-proof $rows --embed $clip --embed-activation gelu $how --out seen
run 0 "" assign seen --embeddings e.safetensors --labels y.csv:label --probs p.csv:p --out assigned.csv
refused 3 assign seen --embeddings g.safetensors --labels y.csv:label --probs p.csv:p --out assigned2.csv
run 0 "" embed $photos --activation gelu --out g2.npy
refused 3 assign seen --embeddings g2.npy --labels y.csv:label --probs p.csv:p --out assigned2.csv
run 0 "" assign seen --embeddings e2.npy --labels y.csv:label --probs p.csv:p --out assigned2.csv
cmp -s assigned.csv assigned2.csv || fail "the rows of a .npy are assigned to other slices"
run 0 "" embed --model $clip --texts texts.txt --out w.npy
run 0 "" embed --model $clip --activation gelu --texts texts.txt --out wg.npy
words="--words texts.txt --word-embeddings"
run 0 "" discover --no-proof -e e2.npy $rows $words w.npy $how --out worded
refused 3 discover --no-proof -e e2.npy $rows $words wg.npy $how --out x
printf '%s\n' a b c d e f > six.txt
refused 3 discover --no-proof -e e2.npy $rows --words six.txt --word-embeddings e2.npy $how --out x
mkdir folders && cp -r photos/cat photos/dog folders
run 0 "5 pictures, embedded by $clip" discover --no-proof --images folders --model resnet.safetensors --embed $clip --resize 40 --crop 32 \
    --least 1 --class all --method domino --no-report --out both
python 's = json.load(open("both/slices.json"))["subject"]
assert s["features"] == 8 and s["rows"] == 5 and s["encoder"].startswith("clip-") and "embedded by" in s["source"], s'
run 0 "" embed --model resnet.safetensors --images photos --resize 40 --crop 32 --out r.safetensors
python 'v, m = load("r.safetensors"); assert v.shape == (6, 128) and m["kind"] == "resnet" and m["encoder"][:7] == "resnet-"'
sed '2s/.*/0,gone.png/' e.csv > gone.csv
refused 3 discover --no-proof ${rows/e.csv/gone.csv} --embed $clip $how --out gone
run 0 "" discover --no-proof ${rows/e.csv/gone.csv} --embed $clip $how --skip-unreadable --out gone
python 's = json.load(open("gone/slices.json"))["subject"]; assert s["rows"] == 5 and s["skipped"] == 1, s'
# Tables in the order of the rows have a record for rows without a picture, too.
printf '%s\n' colour red red blue blue red blue > t.csv
for more in "" "--embed $clip" "--model resnet.safetensors --resize 40 --crop 32"; do
    given=${rows/e.csv/gone.csv}
    [ "${more#--model}" = "$more" ] || given=${given% --probs*}
    [ -n "$more" ] || given="$given -e e2.npy"
    run 0 "" discover --no-proof $given $more $how --skip-unreadable --attributes t.csv --replace --out gone
    python 's = json.load(open("gone/slices.json"))["subject"]; assert s["skipped"] == 1, s'
done
refused 2 discover --no-proof --images photos --embed $clip --out x
run 0 "" discover --no-proof $rows --embeddings e.safetensors --embed neutral $how --out sources
python 's = json.load(open("sources/slices.json"))["subject"]
assert [b["features"] for b in s["sources"]] == [8, 148] and s["features"] == 156 and s["encoder"][:7] == "joined-", s
assert s["sources"][0]["encoder"] == load("e.safetensors")[1]["encoder"] and s["sources"][1]["encoder"][:8] == "neutral-", s'
run 0 "" embed --model neutral --images photos --out neutral.safetensors
run 0 "" assign sources -e e.safetensors -e neutral.safetensors --labels y.csv:label --probs p.csv:p --out sources.csv
refused 3 assign sources -e neutral.safetensors -e e.safetensors --labels y.csv:label --probs p.csv:p --out sources.csv
refused 2 discover --no-proof $rows --embed $clip --embed-heads two --out x
refused 3 discover --no-proof $rows --embed e.safetensors $how --out x
rm -rf x

# --- stopped: by an unreadable picture, by SIGTERM, by SIGKILL; the bytes in the end are those of an uninterrupted run
mkdir -p many/x
for i in $(seq -w 0 539); do ln -s "../../big/$((10#$i % 3)).png" "many/x/$i.png"; done
run 0 "" embed --model $clip --images many --out whole.safetensors
rm many/x/539.png && printf '\x89PNG\r\n\x1a\n' > many/x/539.png
refused 3 embed --model $clip --images many --out s.safetensors
grep -q "512 of 540 rows are saved in s.safetensors.part" "$dir/err" || fail "what is saved is not said: $(cat "$dir/err")"
[ ! -e s.safetensors ] || fail "an unfinished output is there"
rm many/x/539.png && ln -s ../../big/2.png many/x/539.png
cp s.safetensors.part saved.part
run 0 "512 of 540 rows are there from an earlier start" embed --model $clip --images many --out s.safetensors
cmp -s s.safetensors whole.safetensors || fail "other bytes after an unreadable picture"
mv saved.part s.safetensors.part                       # as if killed after the rows were saved
run 0 "nothing to do" embed --model $clip --images many --out s.safetensors
[ ! -e s.safetensors.part ] || fail "the .part of a killed process stays"
echo mine > s.safetensors.part
run 0 "nothing to do" embed --model $clip --images many --out s.safetensors
[ "$(cat s.safetensors.part)" = mine ] || fail "a foreign .part was removed"
for signal in TERM KILL; do
    code=0
    "$spotter" embed --model $clip --images many --threads 1 --out k.safetensors >/dev/null 2>"$dir/err" &
    for _ in $(seq 1000); do
        [ "$(stat -c %s k.safetensors.part 2>/dev/null || echo 0)" -gt 4096 ] && break
        sleep 0.005
    done
    if [ $signal = KILL ] && kill -STOP $!; then
        run 2 "process $! on " embed --model $clip --images many --out k.safetensors
        grep -q 'k.safetensors.part: .* computes these rows since' "$dir/err" || fail "who works there: $(cat "$dir/err")"
        run 2 "process $! on " embed --model $clip --images many --out k.safetensors --replace
    fi
    kill -$signal $! 2>/dev/null
    wait $! 2>/dev/null
    code=$?
    if [ $code -eq 0 ]; then echo "finished before it was stopped by $signal"
    else [ $code -eq $([ $signal = TERM ] && echo 75 || echo 137) ] || fail "stopped by $signal: exit code $code"
    fi
    run 0 "" embed --model $clip --images many --out k.safetensors
    cmp -s k.safetensors whole.safetensors || fail "other bytes after $signal"
    rm k.safetensors k.csv
done

# --- a limit on file sizes is the full disk that a test can have
(ulimit -f 4; run 4 "free some space and run the same command again" embed --model $clip --images many --out d.safetensors
 exit $failed) || failed=$((failed + 1))
run 0 "" embed --model $clip --images many --out d.safetensors
cmp -s d.safetensors whole.safetensors || fail "other bytes after a full disk"

# --- unreadable pictures are left out
rm many/x/010.png && echo no > many/x/010.png
run 0 "1 of 540 pictures cannot be read and are left out" embed --model $clip --images many --out u.safetensors \
    --skip-unreadable --json
python 'j = json.load(open(a[0])); v, m = load("u.safetensors")
assert j["rows"] == 539 and j["skipped"] == 1 and v.shape == (539, 8) and m["skipped"] == "1"
i = ids("u.csv"); assert len(i) == 539 and "x/010.png" not in i and i[10] == "x/011.png"' "$dir/out"
refused 3 embed --model $clip --images many --out u2.safetensors

# --- other people's files, other rows
echo mine > f.safetensors
refused 2 embed $photos --out f.safetensors
[ "$(cat f.safetensors)" = mine ] || fail "a file was overwritten"
echo mine > g3.csv
refused 2 embed $photos --out g3.npy
echo mine > n.safetensors.part
refused 2 embed $photos --out n.safetensors
[ "$(cat n.safetensors.part)" = mine ] || fail "a .part was overwritten"
refused 2 embed $photos --activation gelu --out e.safetensors
run 0 "" embed $photos --out f.safetensors --replace
cmp -s e.safetensors f.safetensors || fail "--replace did not replace"
refused 2 embed --model $clip --texts texts.txt --out $clip --replace
cp texts.txt t3.csv
refused 2 embed --model $clip --texts t3.csv --out t3.npy --replace
refused 2 embed --model $clip --texts texts.txt --out clip/config.npy --replace
cp clip/config.json other.json
refused 2 embed $photos --config other.json --out other.npy --replace
mkfifo clip/preprocessor_config.json
limit=10 refused 3 embed $photos --out pipe.safetensors
rm clip/preprocessor_config.json
head -c 5000 whole.safetensors > cut.safetensors
refused 2 embed $photos --out cut.safetensors
refused 4 embed $photos --out nowhere/x.npy

# --- what cannot be encoded
refused 2 embed --model $clip --out x.npy
refused 2 embed $photos --out x.csv
refused 2 embed $photos --half --out x.npy
refused 2 embed $photos --texts texts.txt --out x.npy
mkdir empty
refused 3 embed --model $clip --images empty --out x.npy
refused 4 embed --model $clip --images nowhere --out x.npy
head -c 3000 $clip > clip/half.safetensors
refused 3 embed --model clip/half.safetensors --images photos --out x.npy
refused 3 embed --model e.safetensors --images photos --out x.npy
printf 'a cat\none two three four five six\n' > long.txt
refused 3 embed --model $clip --texts long.txt --out x.npy
run 0 "1 of 2 texts have more than 12 tokens and were cut" embed --model $clip --texts long.txt --cut --out l.npy
printf 'a cat\nb\xff\n' > bad.txt
refused 3 embed --model $clip --texts bad.txt --out x.npy
printf 'a cat\nsalt &#38; oil\n' > bad.txt
refused 3 embed --model $clip --texts bad.txt --out x.npy
printf 'a cat\n\ndog\n' > gap.txt
refused 3 embed --model $clip --texts gap.txt --out x.npy
: > none.txt
refused 3 embed --model $clip --texts none.txt --out x.npy
refused 3 embed --model $clip --coco boxes.json --out x.npy
mkdir notok && cp $clip clip/config.json notok
refused 3 embed --model notok/model.safetensors --texts texts.txt --out x.npy
run 0 "" embed --model notok/model.safetensors --texts texts.txt --vocabulary clip --out v.npy
sed 's|dog/more/1.png|../secret.png|' boxes.json > out.json
refused 3 embed $photos --coco out.json --out x.npy
[ -z "$(ls x.* 2>/dev/null)" ] || fail "a refused command left $(ls x.*)"
exit $failed
