#!/usr/bin/env bash
# test_openimages.sh - OpenImages' lists, made by hand, through tools/openimages to the plan of a sweep: parents and parts are
# no kinds, labels that people denied do not count, and broken lists are named.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
convert=../tools/openimages
cat > "$dir/tree.json" <<'END'
{"LabelName": "/m/root", "Subcategory": [
  {"LabelName": "/m/animal", "Subcategory": [
    {"LabelName": "/m/bird", "Subcategory": [{"LabelName": "/m/duck"}, {"LabelName": "/m/owl"}, {"LabelName": "/m/swan"}]},
    {"LabelName": "/m/mammal", "Part": [{"LabelName": "/m/tail"}],
     "Subcategory": [{"LabelName": "/m/cat"}, {"LabelName": "/m/dog", "Part": [{"LabelName": "/m/tail"}]}]}]},
  {"LabelName": "/m/car"}]}
END
printf '%s\n' '/m/animal,Animal' '/m/bird,Bird' '/m/duck,Duck' '/m/owl,"Owl, of the night"' '/m/swan,Swan' '/m/mammal,Mammal' \
    '/m/cat,Cat' '/m/dog,Dog' '/m/tail,Tail' '/m/car,Car' > "$dir/classes.csv"
/usr/bin/python3 - "$dir" <<'END'
import sys
boxes, labels = open(sys.argv[1] + "/boxes.csv", "w"), open(sys.argv[1] + "/labels.csv", "w")
boxes.write("ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded\n")
labels.write("ImageID,Source,LabelName,Confidence\n")
kinds = ["duck", "owl", "swan", "cat", "dog", "cat"]
for i in range(240):
    kind = kinds[i % 6]
    if i % 2:
        boxes.write(f"{i:04x},xclick,/m/{kind},1,0.1,0.2,0.3,0.4,0\n" * 2)     # two boxes of one kind
    else:
        labels.write(f"{i:04x},verification,/m/{kind},1\n")
    labels.write(f"{i:04x},verification,/m/{'bird' if i % 6 < 3 else 'mammal'},1\n")
    labels.write(f"{i:04x},verification,/m/swan,0\n" if i % 6 == 0 else "")       # no swan, people say
labels.write("0f00,verification,/m/car,1\n0f01,verification,/m/animal,1\n0f02,verification,/m/tail,1\n")
labels.write("0f03,verification,/m/duck,1\n0f03,verification,/m/cat,1\n")
END
lists=(--hierarchy "$dir/tree.json" --classes "$dir/classes.csv" --labels "$dir/boxes.csv" "$dir/labels.csv")
$convert "${lists[@]}" --out "$dir/animals.json" > "$dir/said"
grep -q "241 pictures, 3 kinds of bird, 2 other kinds of animal" "$dir/said" || fail "$(cat "$dir/said")"
/usr/bin/python3 - "$dir/animals.json" <<'END' || fail "animals.json"
import collections, json, sys
top = json.load(open(sys.argv[1]))
kind = {k["id"]: k["name"] for k in top["categories"]}
assert {k["name"]: k["supercategory"] for k in top["categories"]} == {
    "Duck": "bird", "Owl, of the night": "bird", "Swan": "bird", "Cat": "animal", "Dog": "animal"}
count = collections.Counter(kind[a["category_id"]] for a in top["annotations"])
assert count == {"Duck": 41, "Owl, of the night": 40, "Swan": 40, "Cat": 81, "Dog": 40}, count
names = [i["file_name"] for i in top["images"]]
assert names == sorted(set(names)) and names[0] == "0000.jpg" and "0f03.jpg" in names and "0f01.jpg" not in names
END
cp "$dir/animals.json" "$dir/first.json"
$convert "${lists[@]}" --out "$dir/animals.json" > /dev/null
cmp -s "$dir/first.json" "$dir/animals.json" || fail "two files of the same lists differ"

# Pictures of a list, and those that are there.
mkdir "$dir/images"
for i in $(seq 0 239); do : > "$dir/images/$(printf %04x "$i").jpg"; done
$convert "${lists[@]}" --images "$dir/images" --out "$dir/animals.json" | grep -q "240 pictures" || fail "--images"
printf 'ImageID,Subset\n0000,train\n0001,test\n' > "$dir/ids.csv"
$convert "${lists[@]}" --ids "$dir/ids.csv" --out "$dir/two.json" | grep -q ": 2 pictures" || fail "--ids"

# Spotter's reading of it: three birds alone, their three pairs and their triple.
sed -e "s|openimages/animals.json|$dir/animals.json|" -e "s|openimages/images|$dir/images|" -e "s/ecs: 49/ecs: 7/" \
    -e "s/category_least: 1000/category_least: 20/" -e "s/size: 224/size: 32/" -e 's/init: "[^"]*", //' \
    ../configs/openimages.yaml > "$dir/birds.yaml"
run 0 "" plan "$dir/birds.yaml" --quick
[ "$(grep -c "  bird$" "$dir/out")" = 7 ] || fail "not 7 ECs of birds: $(cat "$dir/out")"
grep -q "Owl, of the night" "$dir/out" || fail "no owl: $(cat "$dir/out")"

# Broken lists.
set +e
ends 4 "cannot read $dir/none.csv" $convert "${lists[@]}" "$dir/none.csv" --out "$dir/x.json"
ends 3 "has no column LabelName" $convert --hierarchy "$dir/tree.json" --classes "$dir/classes.csv" --labels "$dir/ids.csv" \
    --out "$dir/x.json"
ends 2 "has no class called Fish" $convert "${lists[@]}" --task Fish --out "$dir/x.json"
ends 2 "Car is not below Animal" $convert "${lists[@]}" --task Car --out "$dir/x.json"
ends 3 "is no JSON" $convert "${lists[@]}" --hierarchy "$dir/classes.csv" --out "$dir/x.json"
printf 'ImageID,Source,LabelName,Confidence\n1,a,/m/cat,sure\n' > "$dir/odd.csv"
ends 3 'is "sure", and a number is wanted' $convert "${lists[@]}" "$dir/odd.csv" --out "$dir/x.json"
[ ! -e "$dir/x.json" ] || fail "a broken list left a file"
[ $failed = 0 ]
echo "OpenImages' lists become COCO's, and a plan"
