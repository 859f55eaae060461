#!/usr/bin/env bash
# test_examine_laws.sh BUILD: laws of paper 002 on small networks that learn boxes, cylinders and pyramids. p falls as
# m falls (Table 3). Strength mode raises p (4.6). Two orders of rl's factors end in the same places (Figure 6): the last 50
# renders of two orders are no farther apart than those of two seeds of one order. How soon they end there depends on the order.
# ctest: long
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" JOB_COMPLETION_INDEX
limit=300
/usr/bin/python3 examine_world.py "$dir/world" 6 || fail "no world"

config() # SEARCH MODELS EXAMINERS [FACTORS]
{
    printf 'study: examine\nobjects: {catalogue: %s, choice: first}\nrender: {size: 32, samples: 1}\n' "$dir/world"
    printf 'maps: {renders: 0, scans: none}\nsearch: {%s}\nmodels: %s\nexaminers: %s\n' "$1" "$2" "$3"
    [ $# -lt 4 ] || printf 'factors: %s\n' "$4"
}

# --- The law of m, and both modes.
few='[{name: net-m1, renders: 1}, {name: net-m8, renders: 8}, {name: net-m64, renders: 64, epochs: 5}]'
for mode in weakness strength; do
    mkdir -p "$dir/$mode"
    [ $mode = weakness ] || cp -r "$dir/weakness/models" "$dir/$mode/"
    config "renders: 500, points: '500', seeds: 2, mode: $mode" "$few" '[{method: cem}, {method: random}]' >"$dir/$mode.yaml"
    run 0 "" examine "$dir/$mode.yaml" --out "$dir/$mode"
done

# --- The paper's order and its other one. A rate at which 150 updates are enough to settle.
lamp='{factor: lamp_energy}, {factor: sun_energy}, {factor: lamp_distance}, {factor: lamp_azimuth}, {factor: lamp_elevation}'
camera='{factor: camera_distance}, {factor: camera_azimuth}, {factor: camera_elevation}, {factor: camera_roll}'
for order in default other; do
    mkdir -p "$dir/$order" && cp -r "$dir/weakness/models" "$dir/$order/"
    [ $order = default ] && own="$lamp, $camera" || own="$camera, $lamp"
    config 'renders: 4832, seeds: 3' '[{name: net-m1, renders: 1}]' '[{method: rl, reward: rank, lr: 0.01}]' "[$own]" \
        >"$dir/$order.yaml"
    run 0 "" examine "$dir/$order.yaml" --out "$dir/$order"
done
/usr/bin/python3 examine_laws.py "$dir" || fail "a law does not hold"
[ $failed -eq 0 ] && echo ok
exit $failed
