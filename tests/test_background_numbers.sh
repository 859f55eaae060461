#!/usr/bin/env bash
# test_background_numbers.sh BUILD: small runs of backgrounds against NumPy and PIL: pictures, choices, distances, answers and
# numbers (background_numbers.py). Pictures of 64 pixels are squashed to 48.
set -u
. ./lib.sh
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "no NumPy or PIL: skipped"; exit 77; }
/usr/bin/python3 backgrounds_world.py make "$dir/w" 6 || fail "the world was not made"
/usr/bin/python3 backgrounds_world.py make "$dir/wide" 9 || fail "the world was not made"
for choice in random nearest interval; do
    w=$dir/w n=5
    [ $choice = nearest ] && n=8               # more than a class has others
    [ $choice = interval ] && w=$dir/wide      # its classes have more others than there are backgrounds
    cat > "$dir/$choice.yaml" <<END
study: background
data: {images: $w/images, backgrounds: $w/backgrounds, size: 48}
suite: {choice: $choice, n: $n, seed: 3}
measure: {levels: 1, grid: 16, kernel: 5, sigma: 2}
models: [{name: m, command: "cd $tests && exec /usr/bin/python3 background_numbers.py predict $dir/seen-$choice"}]
END
    run 0 "" background "$dir/$choice.yaml" --out "$dir/$choice"
    /usr/bin/python3 background_numbers.py check "$dir/$choice" "$w" "$dir/seen-$choice" || fail "the numbers of $choice"
done
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
