#!/usr/bin/env bash
# test_python.sh BUILD: the Python package, installed as a user would, does what the program does, byte for byte.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/libspotter.so" ] || { echo "skipped: there is no $build/libspotter.so"; exit 77; }
# Debian's Python, whose numpy, PyTorch and setuptools tools/setup brings: nothing is fetched.
/usr/bin/python3 -m venv --system-site-packages "$dir/venv"
cp -r ../tools/python "$dir/python"           # pip builds in place
SPOTTER_BUILD=$build "$dir/venv/bin/pip" install --quiet --no-index --no-build-isolation "$dir/python" 2>"$dir/said" ||
    { cat "$dir/said"; fail "pip install"; }
SPOTTER_LIBRARY=$build/libspotter.so /usr/bin/python3 ../tools/python/make_stub.py "$dir/methods.pyi"
cmp "$dir/methods.pyi" ../tools/python/spotter/methods.pyi ||
    fail "methods.pyi is not that of the library: run tools/python/make_stub.py"
cd "$dir"
/usr/bin/python3 "$OLDPWD/random_clip.py" encoder
"$dir/venv/bin/python" "$OLDPWD/test_python.py" "$build/spotter" || fail "test_python.py"
"$dir/venv/bin/python" -W ignore "$OLDPWD/test_python_discover.py" "$build/spotter" || fail "test_python_discover.py"
"$dir/venv/bin/python" -W ignore "$OLDPWD/test_python_nonsense.py" || fail "test_python_nonsense.py"
"$dir/venv/bin/python" -W ignore "$OLDPWD/test_python_manners.py" || fail "test_python_manners.py"
mkdir locale
(cd locale && "$dir/venv/bin/python" -W ignore "$tests/test_python_locale.py") || fail "test_python_locale.py"
"$dir/venv/bin/python" "$OLDPWD/test_python_gather.py" "$build/spotter" || fail "test_python_gather.py"
"$dir/venv/bin/python" "$OLDPWD/test_python_exchange.py" "$build/spotter" || fail "test_python_exchange.py"
"$dir/venv/bin/python" "$OLDPWD/test_python_dataset.py" "$build/spotter" || fail "test_python_dataset.py"
/usr/bin/python3 "$OLDPWD/detector_data.py" detector 120
"$dir/venv/bin/python" "$OLDPWD/test_python_detections.py" "$build/spotter" || fail "test_python_detections.py"

# The worked example, on pictures; without an answer to get right, but with a page to make.
"$dir/venv/bin/python" - <<'PY'
import os
import numpy as np
from PIL import Image
draw = np.random.default_rng(1)
for kind in ("cat", "dog"):
    os.makedirs(f"photos/{kind}")
    for i in range(30):
        Image.fromarray(draw.integers(0, 256, (80, 70, 3), dtype=np.uint8)).save(f"photos/{kind}/{i}.png")
PY
"$dir/venv/bin/python" "$OLDPWD/../tools/python/examples/torch_to_report.py" photos report.html >"$dir/said" 2>&1 ||
    { cat "$dir/said"; fail "the example"; }
[ "$(stat -c %s report.html)" -gt 150000 ] || fail "the example's page has no pictures"
# A wheel that carries the library, in a venv of its own, from another folder and without the build.
PATH=/usr/bin:$PATH "$OLDPWD/../tools/wheel" "$dir/wheels" --build "$build" >"$dir/said" 2>&1 ||
    { cat "$dir/said"; fail "tools/wheel"; }
/usr/bin/python3 -m venv --system-site-packages "$dir/fresh"
"$dir/fresh/bin/pip" install --quiet --no-index --no-deps "$dir"/wheels/spotter-*linux_*.whl
mkdir "$dir/elsewhere"
(cd "$dir/elsewhere" && "$dir/fresh/bin/python" -c '
import numpy as np, spotter
r = np.random.default_rng(0)
assert spotter.KMeans(device="cpu").fit(r.normal(size=(60, 3)), None, r.random(60)).slices_
assert spotter.schema()["title"].startswith("slices.json")
maps = open("/proc/self/maps").read()
assert "/fresh/lib" in maps and "spotter/lib/libdnnl" in maps, "a library of the system was taken"  # numpy has some
') || fail "the wheel"
# Its command is the program. Of several builds the one that the CPU runs is taken, the widest first; where it runs none,
# there is a sentence.
command=$dir/fresh/bin/spotter
[ "$("$command" --version)" = "$("$build/spotter" --version)" ] || fail "the wheel's command"
"$dir/fresh/bin/python" -m spotter --version >/dev/null || fail "python -m spotter"
package=$(cd "$dir/elsewhere" && "$dir/fresh/bin/python" -c 'import spotter_program; print(spotter_program.package)')
echo 'const char *spot_cpu_lacks(void) { return "avx9"; }' >"$dir/lacks.c"
cc -shared -fPIC -o "$dir/lacks.so" "$dir/lacks.c"
mkdir "$package/lib-x86-64-v9"
printf '#!/bin/sh\necho the wide one\n' >"$package/lib-x86-64-v9/spotter"
chmod +x "$package/lib-x86-64-v9/spotter"
[ "$("$command" --version)" = "the wide one" ] || fail "the wider build is not taken"
cp "$dir/lacks.so" "$package/lib-x86-64-v9/libspotter_cpu.so"
[ "$("$command" --version)" = "$("$build/spotter" --version)" ] || fail "a build for another CPU is taken"
cp "$dir/lacks.so" "$package/lib/libspotter_cpu.so"
code=0
"$command" --version 2>"$dir/said" || code=$?
[ $code = 5 ] && grep -q "this CPU has no avx9" "$dir/said" || fail "no build for this CPU: exit code $code, $(cat "$dir/said")"
"$dir/fresh/bin/python" -c 'import spotter' 2>"$dir/said" && fail "a library for another CPU is loaded"
grep -q "ImportError: this CPU has no avx9" "$dir/said" || fail "the sentence of import: $(cat "$dir/said")"
# Where pip fails, the tool shows pip's own reason.
mkdir "$dir/broken"
cat >"$dir/broken/python3" <<'FAKE'
#!/bin/sh
case " $* " in *" --quiet "*) ;; *) echo "error: invalid command 'bdist_wheel'" ;; esac
exit 1
FAKE
chmod +x "$dir/broken/python3"
PATH=$dir/broken:$PATH "$OLDPWD/../tools/wheel" "$dir/none" --build "$build" >"$dir/said" 2>&1 && fail "a wheel without pip"
grep -q "invalid command 'bdist_wheel'" "$dir/said" && grep -q "for the reason above" "$dir/said" ||
    fail "pip's reason is hidden: $(cat "$dir/said")"
echo "Python says what the program says"
