"""test_python_locale.py: run by test_python.sh in an empty folder. A process whose locale has a decimal comma, or Turkish
letters, gets the bytes that one without a locale gets."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

WORK = """
import locale, sys
sys.path.insert(0, sys.argv[3])
locale.setlocale(locale.LC_ALL, sys.argv[1])
import numpy as np, spotter
from python_checks import planted
feature, target, probs, _ = planted()
out = sys.argv[2]
table = {"INK": np.round(feature[:, 0].astype(float), 2), "kind": np.array(["in", "Im"])[target % 2]}
spotter.discover(feature, target, probs, out=out, attributes=table, device="cpu")
plane = spotter.PlaneSpot(weight=0.3, reduce="pca", seed=1, device="cpu").fit(feature, target, probs)
plane.write(out + "/plane")
with open(out + "/said", "w") as f:
    print(plane.predict(feature, target, probs).sum(), file=f)
    try:
        spotter.PlaneSpot(weight=-0.5, device="cpu").fit(feature, target, probs)
    except spotter.SpotterError as e:
        print(e, file=f)
print(locale.localeconv()["decimal_point"])
"""


def made(name, folder):
    """Bytes of all files of the work in that locale, but for the log, and its decimal point."""
    os.makedirs(folder)
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", WORK, name, "found", here], capture_output=True, text=True,
                          cwd=folder, env=dict(os.environ, LOCPATH=os.path.abspath("locales")))
    assert done.returncode == 0, (name, done.stderr)
    found = {p.relative_to(folder): p.read_bytes() for p in Path(folder, "found").rglob("*") if p.is_file()}
    return {p: b for p, b in found.items() if "logs" not in p.parts}, done.stdout.strip()


def test_no_byte_depends_on_the_locale():
    os.makedirs("locales", exist_ok=True)
    plain, point = made("C", "in_c")
    assert point == "." and len(plain) > 5
    for name in ("de_DE", "tr_TR"):
        if not shutil.which("localedef") or subprocess.run(["localedef", "-i", name, "-f", "UTF-8", f"locales/{name}.UTF-8"],
                                                           capture_output=True).returncode > 1:
            print(f"{name}: skipped, since the Debian package locales is not here")
            continue
        found, point = made(name + ".UTF-8", name)
        assert point == ",", (name, point)
        assert found.keys() == plain.keys(), (name, found.keys() ^ plain.keys())
        for file in plain:
            assert found[file] == plain[file], (name, file)


test_no_byte_depends_on_the_locale()
