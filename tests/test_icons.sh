#!/usr/bin/env bash
# test_icons.sh BUILD - two packages of five icons or so from tools/icons fetch, whose apt-get is a script here, to a network
# from which a sweep starts.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import ctypes, PIL, numpy; ctypes.CDLL("librsvg-2.so.2"); ctypes.CDLL("libcairo.so.2")' 2>/dev/null ||
    { echo "skipped: tools/setup --tests installs librsvg2-2, python3-pil and python3-numpy"; exit 77; }
tool=$(realpath ../tools/icons)
data=$dir/data

# Two packages, and an apt that has no others.
mkdir "$dir/bin" "$dir/debs"
/usr/bin/python3 - "$dir" <<'END'
import os, sys
from PIL import Image
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><path fill="%s" d="M0 0h%dv16z"/></svg>'
def icon(package, path, made):
    path = f"{sys.argv[1]}/{package}/usr/share/icons/Toy {package[:3]}/{path}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    made.save(path) if hasattr(made, "save") else open(path, "w").write(made)
def block(side, colour):
    whole = Image.new("RGBA", (side, side))
    whole.paste(colour, (side // 4, side // 4, 3 * side // 4, 3 * side // 4))
    return whole
for package, colour in (("moka-icon-theme", (200, 0, 0, 255)), ("suru-icon-theme", (0, 0, 200, 255))):
    icon(package, "48x48/apps/clock.png", block(48, (9, 9, 9, 255)))            # a PNG of 64 pixels or more goes before it
    icon(package, "64x64@2x/apps/clock.png", block(128, (0, 200, 0, 255)))
    icon(package, "64x64/apps/clock.png", block(64, colour))
    icon(package, "scalable/apps/clock.svg", SVG % ("#fff", 1))
    icon(package, "places/scalable/folder.svg", SVG % ("#%02x%02x%02x" % colour[:3], 16))
    icon(package, "24/actions/go-next-symbolic.svg", SVG % ("#222", 9 if package < "n" else 12))
    icon(package, "16x16/mimetypes/gnome-mime-text-plain.png", block(16, colour[::-1][1:] + (255,)))
    icon(package, "symbolic/status/network.svg", SVG % ("#eee", 5 if package < "n" else 6))
more = "moka-icon-theme"
icon(more, "64x64/places/clock-copy.png", block(64, (200, 0, 0, 255)))          # equal to another icon
icon(more, "scalable/status/broken.svg", "<svg")
icon(more, "32x32/status/blank.png", block(32, (0, 0, 0, 0)))
icon(more, "32x32/stock/form.png", block(32, (1, 2, 3, 255)))
os.symlink("clock.png", f"{sys.argv[1]}/{more}/usr/share/icons/Toy mok/64x64/apps/watch.png")
END
for package in moka suru; do
    mkdir "$dir/$package-icon-theme/DEBIAN"
    printf 'Package: %s-icon-theme\nVersion: 1.%s\nArchitecture: all\nMaintainer: nobody <a@b>\nDescription: toy\n' \
        $package ${#package} > "$dir/$package-icon-theme/DEBIAN/control"
    dpkg-deb --build "$dir/$package-icon-theme" "$dir/debs/$package-icon-theme_1_all.deb" >/dev/null
done
cat > "$dir/bin/apt-cache" <<'END'
#!/bin/sh
printf 'Package: %s\n\n' moka-icon-theme suru-icon-theme
END
cat > "$dir/bin/apt-get" <<END
#!/bin/sh
cp "$dir"/debs/*.deb .
for package; do echo "\$package"; done | grep -c icon-theme
echo called >> "$dir/calls"
END
chmod +x "$dir"/bin/*

PATH=$dir/bin:$PATH $tool fetch "$data" >"$dir/said" 2>"$dir/log" || fail "fetch: $(tail -1 "$dir/log")"
grep -q ": 2 packages" "$dir/said" && grep -q "apt knows no papirus-icon-theme" "$dir/log" || fail "fetch: $(cat "$dir/said")"
grep -qx 2 "$dir/log" || fail "fetch asks for other packages than those that apt knows"
grep -q '"suru-icon-theme": "1.4"' "$data/packages.json" || fail "versions"

# Pictures: which file, which name, what is left out.
$tool draw "$data" >"$dir/said" 2>"$dir/log" || fail "draw: $(tail -1 "$dir/log")"
grep -q "10 pictures of 2 themes; left out: 1 links, 1 duplicate, 1 empty, 1 unreadable, 1 without a context" "$dir/said" ||
    fail "$(cat "$dir/said")"
cat > "$dir/look.py" <<'END'
import csv, os, sys
from PIL import Image
rows = list(csv.DictReader(open("index.csv")))
assert list(rows[0]) == ["file", "package", "theme", "context", "name", "hash"], rows[0]
of = {(r["package"][:4], r["name"]): Image.open(r["file"]) for r in rows}
assert {(r["context"], r["name"]) for r in rows} == {("apps", "clock"), ("places", "folder"), ("actions", "go-next"),
                                                     ("mimetypes", "text-plain"), ("status", "network")}
assert {r["theme"] for r in rows} == {"Toy mok", "Toy sur"} and len({r["hash"] for r in rows}) == 10
assert all(i.size == (64, 64) and i.mode == "RGB" for i in of.values())
assert of["moka", "clock"].getpixel((32, 32)) == (200, 0, 0) and of["suru", "clock"].getpixel((20, 44)) == (0, 0, 200)
assert of["moka", "folder"].getpixel((50, 10)) == (200, 0, 0)                    # an SVG of 16 pixels fills the picture
assert of["suru", "text-plain"].getpixel((32, 32)) == (200, 0, 0)
ground = {k: i.getpixel((0, 63)) for k, i in of.items()}
assert len(set(ground.values())) == 10                                            # by theme and context, not by name alone
assert min(ground["moka", "clock"]) > 150 and max(ground["moka", "network"]) < 100    # light below dark, dark below light
END
(cd "$data" && /usr/bin/python3 "$dir/look.py") || fail "the pictures"

# A run that was killed goes on: half of a line, and a picture that is lost.
cp -r "$data" "$dir/again"
printf 'png/half' >> "$dir/again/drawn.csv"
rm "$dir/again/index.csv" "$dir/again/png/suru-icon-theme/Toy sur/apps/clock.png"
$tool draw "$dir/again" >"$dir/said" 2>"$dir/log" || fail "draw again: $(tail -1 "$dir/log")"
grep -q "13 icons; 12 were drawn before" "$dir/log" || fail "$(cat "$dir/log")"
diff -r "$data/png" "$dir/again/png" && cmp "$data/index.csv" "$dir/again/index.csv" || fail "a run that goes on draws others"
PATH=$dir/bin:$PATH $tool fetch "$data" >/dev/null 2>&1 && [ "$(wc -l < "$dir/calls")" = 1 ] || fail "fetch does all anew"

# Sheets in COCO's format, of four packages whose icons are plain: each package has a red of its own, each name a green. Small
# has too few names to count.
/usr/bin/python3 - "$tool" "$dir/plain" <<'END'
import csv, os, sys
from PIL import Image
tool = {"__name__": "icons"}
exec(open(sys.argv[1]).read().rsplit("main()", 1)[0], tool)
os.makedirs(sys.argv[2])
rows = []
for p, package in enumerate(("learned", "chosen", "unseen", "small")):
    for k, (name, context) in enumerate(sorted(tool["SUPER"].items())):
        if package == "small" and k > 9:
            continue
        for where in (context, "apps"):                          # of another context: no category
            file = f"{package}-{where}-{name}.png"
            Image.new("RGB", (64, 64), (40 + 60 * p, 8 * k, 255 if where == "apps" else 0)).save(f"{sys.argv[2]}/{file}")
            rows.append([file, package, f"Theme {package}", where, name, file])
with open(sys.argv[2] + "/index.csv", "w", newline="") as f:
    csv.writer(f).writerows([tool["COLUMNS"], *rows])
END
sheets=(--images 400 --test unseen --val chosen)
$tool coco "$dir/plain" "$dir/sheets" "${sheets[@]}" >"$dir/said" 2>&1 || fail "coco: $(tail -1 "$dir/said")"
grep -q "260 sheets for train of 1 themes in 1 packages, 40 sheets for val of 1 .* 100 sheets for test of 1 " "$dir/said" ||
    fail "$(cat "$dir/said")"
/usr/bin/python3 - "$tool" "$dir/sheets" <<'END' || fail "sheets"
import collections, json, sys
from PIL import Image
tool = {"__name__": "icons"}
exec(open(sys.argv[1]).read().rsplit("main()", 1)[0], tool)
whole = json.load(open(sys.argv[2] + "/annotations.json"))
category = {k["id"]: k for k in whole["categories"]}
order = sorted(tool["SUPER"])
boxes, numbers, both = collections.defaultdict(list), collections.Counter(), collections.Counter()
for a in whole["annotations"]:
    boxes[a["image_id"]].append(a)
for image in whole["images"]:
    sheet, seen, asked = Image.open(f"{sys.argv[2]}/images/{image['file_name']}").convert("RGB"), [], []
    assert sheet.size == (image["width"], image["height"]) == (64, 64) and image["theme"].startswith("Theme ")
    for a in boxes[image["id"]]:
        name, (x, y, w, h) = category[a["category_id"]]["name"], a["bbox"]
        red = {"train": 40, "val": 100, "test": 160}[image["split"]]
        colours = {sheet.getpixel(p) for p in ((x, y), (x + w - 1, y + h - 1), (x + w // 2, y + h // 2))}
        assert colours == {(red, 8 * order.index(name), 0)}, (image, name, colours)
        assert w == h and 24 <= w <= 32 and x // 32 == (x + w - 1) // 32 and y // 32 == (y + h - 1) // 32 and x + w <= 64
        seen.append((x // 32, y // 32))
        asked.append(name)
    assert 1 <= len(seen) <= 4 and len(set(seen)) == len(seen) and len(set(asked)) == len(asked)
    supers = [tool["SUPER"][n] for n in asked if tool["SUPER"][n] in tool["TASKS"]]
    assert len(set(supers)) == len(supers), asked                # the design drops pictures with two of a task
    numbers[len(seen)] += 1
    both.update((a, b) for a in asked for b in asked if a != b)
assert min(numbers[n] for n in (1, 2, 3, 4)) > 10, numbers
assert {k["supercategory"] for k in category.values()} == {*tool["TASKS"], *tool["BESIDE"]} and len(category) == len(order)
assert both["user-trash", "edit-find"] or both["folder", "edit-find"]
END
$tool coco "$dir/plain" "$dir/again-sheets" "${sheets[@]}" >/dev/null 2>&1 && diff -r "$dir/sheets" "$dir/again-sheets" ||
    fail "equal options give other sheets"
$tool coco "$dir/plain" "$dir/seed-2" "${sheets[@]}" --seed 2 >/dev/null 2>&1
cmp -s "$dir/sheets/annotations.json" "$dir/seed-2/annotations.json" && fail "seeds give equal sheets"
for words in "--test none|no picture of none, which --test names" "--val unseen --test unseen|both name unseen" \
    "--test small --val chosen|no theme for test has 16 of the 30 names" "--images 19|--images is at least 20"; do
    $tool coco "$dir/plain" "$dir/x" --test unseen --val chosen ${words%|*} >/dev/null 2>"$dir/log" && fail "$words"
    grep -q -- "${words#*|}" "$dir/log" || fail "$words: $(cat "$dir/log")"
done
cat > "$dir/sheets.yaml" <<END
seed: 1
ecs: 2
data:  {coco: $dir/sheets/annotations.json, images: $dir/sheets/images, tasks: "devices, places, mimetypes", size: 32,
        splits: file, pair_least: 3, blindspots: [1, 1]}
END
"$spotter" scene "$dir/sheets.yaml" --ec 0 --split test --count 20 --out "$dir/seen" >/dev/null 2>"$dir/log" ||
    fail "scene of sheets: $(tail -1 "$dir/log")"
/usr/bin/python3 - "$dir" <<'END' || fail "the test shows sheets of other themes"
import json, sys
split = {i["file_name"]: i["split"] for i in json.load(open(sys.argv[1] + "/sheets/annotations.json"))["images"]}
rows = [json.loads(line) for line in open(sys.argv[1] + "/seen/images.jsonl")]
assert len(rows) == 20 and all(split[r["picture"].rsplit("/", 1)[1]] == "test" for r in rows)
END

# The network: packages that are held out are no source of names; training in two goes is training in one.
PYTHON=/usr/bin/python3 python_with torch torchvision >/dev/null || { echo "no PyTorch: base is not tested"; exit 0; }
export OMP_NUM_THREADS=1
set +e                                     # from here on failures are counted, as `ends` does
options=(--hold suru-icon-theme --least 1 --width 16)
ends 1 "--hold names" $tool base "$data" "$dir/x.safetensors" --hold none-icon-theme
ends 1 "yaru-theme-icon, which --hold names" $tool base "$data" "$dir/x.safetensors" --hold sheets
ends 1 "no name is there in 2 packages" $tool base "$data" "$dir/x.safetensors" --hold suru-icon-theme --least 2
ends 0 "" $tool base "$data" "$dir/one.safetensors" "${options[@]}" --epochs 3
grep -q "3 steps; suru-icon-theme: .* of contexts, .* of 5 known names" "$dir/out" || fail "base: $(cat "$dir/out")"
for epochs in 1 3; do
    ends 0 "" $tool base "$data" "$dir/two.safetensors" "${options[@]}" --epochs $epochs
done
grep -q "epoch 1 of 3" "$dir/err" && fail "the second go began anew"
cmp "$dir/one.safetensors" "$dir/two.safetensors" || fail "two goes give other weights than one"
ends 1 "of other pictures or options" $tool base "$data" "$dir/two.safetensors" "${options[@]}" --seed 2
/usr/bin/python3 - "$dir/one" <<'END' || fail "what base wrote"
import json, sys
told = json.load(open(sys.argv[1] + ".json"))
assert (told["names"], told["trained_on"], told["pictures"], told["epochs"], told["seed"]) == (5, 5, 10, 3, 1), told
assert told["packages"] == {"moka-icon-theme": "1.4", "suru-icon-theme": "1.4"}
assert told["held_out"]["suru-icon-theme"]["named"] == 5
b = open(sys.argv[1] + ".safetensors", "rb").read()
header = json.loads(b[8:8 + int.from_bytes(b[:8], "little")])
assert header["fc.weight"]["shape"] == [10, 128] and header["conv1.weight"]["shape"] == [16, 3, 7, 7] and len(header) == 122
END

# A sweep starts from it, and from nothing else of its size.
tiny 1 | sed "s#width: 16#width: 16, init: $dir/one.safetensors#" > "$dir/tiny.yaml"
run 0 "" sweep "$dir/tiny.yaml" --out "$dir/run"
sed 's/width: 16/width: 32/' "$dir/tiny.yaml" > "$dir/wide.yaml"
run 2 "holds a network of width 16, model.width is 32" sweep "$dir/wide.yaml" --out "$dir/wide"
[ $failed -gt 0 ] || echo "icons: all good"
exit $((failed > 0))
