#!/usr/bin/env python3
"""bench/examine_rows.py RUN KEY=VALUE...: what a run of configs/examine.yaml measured.

Prints the rows of bench/results/examine.jsonl: numbers of each examiner at each point of its curve, objects that learned the
region, objects whose region was found, the first finding. KEY: machine, load, commit, numbers, date, command, note; all but
note must be given, and `null` is a value.
--table     Prints the rows of README.md in place of these, --table valid those of host/examine/README.md.

An object's region is found where .8 or more of the last 100 renders of every search lie inside, as `spotter examine` has it;
here also of objects that did not learn it."""
import json
import os
import sys

from results import about

NAMES = {"rl": "rl, rank, 1e-2"}
OPS = [("mean of the last 32", "mean"), ("lowest, valid", "lowest_valid"), ("lowest, robust", "robust"),
       ("last 100 in the region", "inside")]
FOUND, TABLE_POINT, IN_TABLE = 0.8, 500, ("cem", "random", "rl", "bo")


def digits(x, n=3):
    return f"{x:.{n}f}"


def row(op, case, value, given, **more):
    """a line; numbers are texts, which keep their digits"""
    parts = [("op", json.dumps(op)), ("case", json.dumps(case)), ("value", value), ("unit", json.dumps(more.pop("unit", None)))]
    parts += [(k, v if isinstance(v, str) and k in ("low", "high") else json.dumps(v)) for k, v in more.items()]
    parts += [(k, json.dumps(v)) for k, v in given.items()]
    return "{" + ", ".join(f'"{k}": {v}' for k, v in parts) + "}"


def found(run, examiner, renders, only_learned):
    """objects whose region every search of the examiner has found, and how many were asked"""
    objects = {}
    for s in run["searches"]:
        if s["examiner"] == examiner and (s["learned"] == 1 or not only_learned):
            inside = next(c["inside"] for c in s["curve"] if c["renders"] == renders)
            objects.setdefault(s["object"], []).append(inside)
    return sum(min(v) >= FOUND for v in objects.values()), len(objects)


def rows(run, failures, given):
    for s in run["summaries"]:
        name = "examine: " + NAMES.get(s["examiner"], s["examiner"])
        for c in s["curve"]:
            case = f"{name}, {c['renders']} renders"
            for op, key in OPS:
                yield row(op, case, digits(c[key]["value"]), given, low=digits(c[key]["low"]), high=digits(c[key]["high"]))
            yield row("valid renders", case, digits(100 * c["valid"], 0), given, unit="%")
            for op, only in (("region found", False), ("region found where learned", True)):
                n, of = found(run, s["examiner"], c["renders"], only)
                yield row(op, case, str(n), given, unit="objects", of=of)
    s = run["summaries"][0]
    yield row("region learned", "examine: objects that learned the region", str(s["learned_the_region"]), given, unit="objects",
              of=s["objects"])
    yield row("rule and region, volume in both", "examine: first finding", digits(failures["findings"][0]["overlap"], 2), given)


def table(run, valid):
    """an examiner's line at TABLE_POINT renders"""
    for s in sorted((s for s in run["summaries"] if s["examiner"] in IN_TABLE), key=lambda s: IN_TABLE.index(s["examiner"])):
        c = next(c for c in s["curve"] if c["renders"] == TABLE_POINT)
        cells = [f"{digits(c[k]['value'])} [{digits(c[k]['low'])}, {digits(c[k]['high'])}]" for _, k in OPS]
        cells[3:3] = [f"{digits(100 * c['valid'], 0)} %"] if valid else []
        yield "| " + " | ".join([s["examiner"], str(TABLE_POINT)] + cells) + " |"


def main():
    words = sys.argv[1:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    run, failures = (json.load(open(os.path.join(words[0], f))) for f in ("examine.json", "failures.json"))
    if words[1:2] == ["--table"]:
        lines = table(run, words[2:] == ["valid"])
    else:
        given, others = about(words[1:])
        if not given or others:
            sys.exit(__doc__)
        lines = rows(run, failures, given)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
