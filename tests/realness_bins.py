#!/usr/bin/python3
"""realness_bins.py RUN CSV: answers by realness in `spotter tables RUN --format csv` against the answers of the run's models,
by plain Python."""
import sys

from background_pages import read
from shift_pages import check, near, rows

BINS = 8


def main(run, table):
    _, suite, responses = read(run)
    distance, cls, n = suite["distance"][1], suite["class"][1], suite["chosen"][0][1]
    real = [1 - d for d in distance]
    least, most = min(real), max(real)
    edge = [least + (most - least) * b / BINS for b in range(BINS + 1)]
    tally = [[0, 0, 0, 0] for _ in range(BINS)]
    for r in responses:
        answer = r["answer"][1]
        for i, v in enumerate(real):
            t, at = i // n, tally[max(b for b in range(BINS) if v >= edge[b])]
            right, known = answer[t * (n + 1) + 1 + i % n] == cls[t], answer[t * (n + 1)] == cls[t]
            at[0] += 1
            at[1] += right
            at[2] += known
            at[3] += known and not right
    lines = [r for r in rows(table) if r["table"] == "7" and r["run"] == run]
    check(len(lines) == 2 * BINS, "lines:", len(lines))
    for b, (looks, right, known, flipped) in enumerate(tally):
        accuracy, flips = lines[2 * b:2 * b + 2]
        check(accuracy["row"] == f"realness {edge[b]:.3f} to {edge[b + 1]:.3f}", accuracy["row"], edge[b])
        check(int(accuracy["n"]) == looks, "looks", accuracy["n"], looks)
        if not looks:
            check(not accuracy["value"], "a number without a look")
            continue
        near(accuracy["value"], right / looks, "accuracy of bin", b)
        if known:
            near(flips["value"], flipped / known, "flips of bin", b)
        for line in (accuracy, flips):
            if line["low"]:
                check(float(line["low"]) <= float(line["value"]) <= float(line["high"]), line)


main(*sys.argv[1:])
