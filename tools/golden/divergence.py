"""Writes tests/golden/divergence.bin: conjunctions of attributes by DivExplorer.

    divergence.py OUT      (in a venv: pip install divexplorer==0.2.6, which made the committed file)

Little endian. int32 n, attributes, uint8 value (n, attributes), uint8 wrong (n), float64 support, int32 longest, sets; per set
of positive divergence, t descending: int32 rows, items, int32 item (items): 2 attribute + value, float64 divergence, t.
"""
import sys

import numpy as np
import pandas as pd
from divexplorer import DivergenceExplorer

SUPPORT, LONGEST = 0.05, 4
r = np.random.RandomState(6)
n, attributes = 331, 6
value = (r.rand(n, attributes) < np.linspace(0.25, 0.7, attributes)).astype("u1")
risk = 0.1 + 0.6 * (value[:, 0] & value[:, 3]) + 0.2 * (1 - value[:, 5])
wrong = (r.rand(n) < risk).astype("u1")
frame = pd.DataFrame(value.astype(int), columns=[f"a{k}" for k in range(attributes)])
frame["wrong"] = wrong.astype(int)
found = DivergenceExplorer(frame).get_pattern_divergence(
    min_support=SUPPORT, boolean_outcomes=["wrong"], attributes=[f"a{k}" for k in range(attributes)])
print(found.head(), list(found.columns), len(found))
sets = []
for _, row in found.iterrows():
    items = sorted(2 * int(i[1:].split("=")[0]) + int(i.split("=")[1]) for i in row["itemset"])
    if items and len(items) <= LONGEST and row["wrong_div"] > 0:
        rows = np.all([value[:, i // 2] == i % 2 for i in items], axis=0)
        assert abs(row["support"] * n - rows.sum()) < 1e-6
        assert abs(row["wrong_div"] - (wrong[rows].mean() - wrong.mean())) < 1e-9
        sets.append((row["wrong_t"], int(rows.sum()), items, row["wrong_div"]))
sets.sort(key=lambda s: -s[0])
with open(sys.argv[1], "wb") as out:
    def put(a, kind):
        out.write(np.ascontiguousarray(a, kind).tobytes())

    put([n, attributes], "<i4")
    put(value, "u1")
    put(wrong, "u1")
    put(SUPPORT, "<f8")
    put([LONGEST, len(sets)], "<i4")
    for t, rows, items, divergence in sets:
        put([rows, len(items)], "<i4")
        put(items, "<i4")
        put([divergence, t], "<f8")
