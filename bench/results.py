#!/usr/bin/env python3
"""bench/results.py [--check]: writes bench/RESULTS.md and the tables of bench/studies/*.md from what was measured.

bench/results/*.jsonl has a measurement a line; lines are appended and never changed. A case is an `op` and a `case`; its last
line is today's figure, those before it are history. bench/results/shown.json says which cases are claims of RESULTS.md.
In a study's page the lines between "<!-- table PREFIX | HEADING | OP | OP ... -->" and "<!-- end -->" are a table of the cases
that begin with PREFIX; "paper OP" is the column of the paper's values, "OP => HEADING" renames a column.

Every line has op, case, value, unit, machine (of machines.json), load, commit, numbers (SPOT_NUMBERS of the program whose
results it is; null: they play no part, or nobody wrote them down), date and command: null where nothing is known. Where it
applies: least and greatest (over rounds), low and high (95 % interval), se, sd, of (how many in all), peer with peer_value,
peer_least, peer_greatest, peer_se, peer_sd, peer_unit, peer_version, ratio with ratio_least and ratio_greatest, asked and aim
(thresholds of the ratio, else of the value) with better (higher or lower), met (a verdict in words) and note.

--check writes nothing and fails where a line is wrong or a page is not what this program would write.
"""
import glob
import json
import os
import re
import statistics
import sys

BENCH = os.path.dirname(os.path.abspath(__file__))
MOST_LINES = 200
TRIALS = ("ECs", "images", "models", "nights", "objects", "shuffles", "studies", "worlds")     # units that are drawn apart
SHOWN_UNITS = ("%", "s", "ms", "min")      # in the tables of studies, where a column's name says the others
ABOUT = ["machine", "load", "commit", "numbers", "date", "command"]
ALWAYS = ["op", "case", "value", "unit", *ABOUT]
FIGURES = ["value", "least", "greatest", "low", "high", "se", "sd", "of", "peer_value", "peer_least", "peer_greatest",
           "peer_se", "peer_sd", "ratio", "ratio_least", "ratio_greatest", "asked", "aim"]
KEYS = set(ALWAYS + FIGURES + ["peer", "peer_unit", "peer_version", "better", "met", "note"])
HEAD = """# What was measured

This page is generated: `bench/results.py` writes it from `bench/results/*.jsonl`, where each measurement is a line, older ones
included. The newest line of a case stands here. [studies/](studies) has a page for each study: its table, what it shows and
what it does not. [predictions.md](predictions.md) has what is expected of a GPU; nothing there was measured.

Timings are ratios to a peer in the same run on the same threads: "1.9 times PyTorch" is 1.9 times as fast as PyTorch. Absolute
times vary by a tenth from run to run, and by more beside other programs. (..) are the least and the greatest of the rounds,
[..] is a 95 % interval (of k of n: Wilson's, as if the n were drawn at random), s.e. a standard error, s.d. a standard
deviation, n how many were averaged. "Not told apart": the interval of a difference holds 0; no such interval is corrected for
the number of comparisons. "from" has the commit, or the file of the line where nobody wrote the commit down, and the version of
Spotter's results (numbers, `SPOT_NUMBERS`). A commit that is gone cannot be checked out. "?" was not written down.

| claim | today | asked | met | machine | date | from |
|---|---|---|---|---|---|---|"""


class Figure(float):
    """a number that keeps its digits"""
    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __str__(self):
        whole, dot, rest = self.text.partition(".")
        return (f"{int(whole):,}" if re.fullmatch(r"-?\d{4,}", whole) else whole) + dot + rest


def wrong_with(row, machines):
    """what is wrong with a line, or None"""
    lacking = [key for key in ALWAYS if key not in row]
    foreign = sorted(set(row) - KEYS)
    if lacking or foreign:
        return f"it lacks {', '.join(lacking)}" if lacking else f"nobody reads {', '.join(foreign)}"
    if row["machine"] not in machines:
        return f"machines.json has no machine {row['machine']}"
    if row["numbers"] is not None and not (isinstance(row["numbers"], Figure) and row["numbers"] >= 1):
        return f"numbers {row['numbers']}"
    for key in FIGURES:
        for x in row[key] if isinstance(row.get(key), list) else [row.get(key)]:
            if x is not None and not isinstance(x, Figure) and not (key == "value" and isinstance(x, str)):
                return f"{key} is no number: {x}"
    if row["date"] is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", row["date"]):
        return f"no date: {row['date']}"
    if ("asked" in row or "aim" in row) and row.get("better") not in ("higher", "lower"):
        return "asked or aim without better: higher or lower"
    return None


def about(words):
    """({key: value}, the other words) of a script's words, of which KEY=VALUE say what its lines have: every key of ABOUT
    (`null` is a value), and maybe note. None for the values where a key lacks or one is foreign."""
    given, others = dict(w.split("=", 1) for w in words if "=" in w), [w for w in words if "=" not in w]
    if set(given) - {"note"} != set(ABOUT):
        return None, others
    typed = {k: None if v == "null" else int(v) if k == "numbers" else v for k, v in given.items()}
    return {k: typed[k] for k in [*ABOUT, "note"] if k in typed}, others


def read():
    """(machines, newest row by (op, case), all rows, faults)"""
    with open(os.path.join(BENCH, "results", "machines.json")) as file:
        machines = json.load(file)
    newest, rows, faults = {}, [], []
    for path in sorted(glob.glob(os.path.join(BENCH, "results", "*.jsonl"))):
        name = os.path.basename(path)
        with open(path) as file:
            for number, line in enumerate(file, 1):
                place = f"bench/results/{name}:{number}: "
                try:
                    row = json.loads(line, parse_float=Figure, parse_int=Figure)
                    fault = wrong_with(row, machines)
                except ValueError as failure:
                    fault = str(failure)
                if fault:
                    faults.append(place + fault)
                    continue
                row["file"], row["place"] = name, place
                before = newest.get((row["op"], row["case"]))
                if before and before["file"] != name:
                    faults.append(place + f"the case stands in {before['file']}, too")
                if before and before["date"] and row["date"] and row["date"] < before["date"]:
                    faults.append(place + f"older than the line before it of this case, {before['place']}")
                newest[row["op"], row["case"]] = row
                rows.append(row)
    return machines, newest, rows, faults


def time_words(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return " ".join(f"{n} {unit}" for n, unit in ((hours, "h"), (minutes, "min"), (seconds, "s")) if n)


def amount(value, least, greatest, unit=None):
    """a value, the values of rounds, or a range, with the unit"""
    if value is None and least is None and greatest is None:
        return ""
    if value is None:
        words = f"{least} to {greatest}" if least is not None and greatest is not None else \
            f"at most {greatest}" if least is None else f"at least {least}"
    elif isinstance(value, list):
        words = ", ".join(map(str, value))
    elif unit == "s" and isinstance(value, Figure) and value >= 120 and "." not in value.text:
        return time_words(value)
    else:
        words = str(value)
    return words + ("" if not unit else f" {unit}")


def spread(row, before=""):
    """the interval, standard error or range of a value"""
    if not before and "low" in row:
        return f" [{row['low']}, {row['high']}]"
    for key, words in (("se", "s.e. "), ("sd", "s.d. ")):
        if before + key in row:
            return f" ({words}{row[before + key]})"
    if row.get(before + "value") is not None and before + "greatest" in row:
        return f" ({row[before + 'least']} to {row[before + 'greatest']})"
    return ""


def has_ratio(row):
    return row.get("ratio") is not None or row.get("ratio_least") is not None


def has_figure(row):
    return has_ratio(row) or any(row.get(key) is not None for key in ("value", "least", "greatest"))


def is_counted(row):
    """whether the value is how many of so many, and not a mean of so many"""
    return "of" in row and row["unit"] and row["unit"] != "%"


def wilson(k, n, z=1.96):
    """Wilson's 95 % interval of a share k / n, as counts of n"""
    middle, half = k + z * z / 2, z * (k * (n - k) / n + z * z / 4) ** .5
    return [max(0, (middle + way * half) / (1 + z * z / n)) for way in (-1, 1)]


def figure_words(row):
    """today's figure of a row"""
    if not has_figure(row):
        return "**not run**" if "not run" in row.get("note", "") else "**not measured**"
    if is_counted(row):
        own = amount(row["value"], row.get("least"), row.get("greatest")) + f" of {row['of']} {row['unit']}"
        if row["unit"] in TRIALS and isinstance(row["value"], Figure):
            low, high = (x / row["of"] * 100 for x in wilson(row["value"], row["of"]))
            own += f" [{low:.{1 if low < 10 else 0}f} to {high:.{1 if high < 10 else 0}f} %]"
    else:
        own = amount(row["value"], row.get("least"), row.get("greatest"), row["unit"]) + spread(row)
        own += f", n {row['of']}" if "of" in row else ""
    if "peer" not in row:
        return own
    peer = row["peer"] + (f" ({row['peer_version']})" if row.get("peer_version") else "")
    theirs = amount(row.get("peer_value"), row.get("peer_least"), row.get("peer_greatest"), row.get("peer_unit") or row["unit"])
    theirs += spread(row, "peer_")
    if not has_ratio(row):
        return f"{own}; {peer}: {theirs}" if theirs.strip() else own
    ratio = amount(row.get("ratio"), row.get("ratio_least"), row.get("ratio_greatest"))
    if row.get("ratio") is not None and "ratio_greatest" in row:
        ratio += f" ({row['ratio_least']} to {row['ratio_greatest']})"
    return f"**{ratio}** times {peer}" + (f": {own} against {theirs}" if own and theirs else "")


def judged(row):
    """the number that is compared with what is asked: the median of rounds, or the worse end of a range"""
    value, *ends = ("ratio", "ratio_least", "ratio_greatest") if has_ratio(row) else ("value", "least", "greatest")
    x = row.get(value)
    if x is None:
        x = row.get(ends[0] if row["better"] == "higher" else ends[1])
    return statistics.median(x) if isinstance(x, list) else x


def aim_words(row):
    if "asked" not in row and "aim" not in row:
        return ""
    unit = None if has_ratio(row) or is_counted(row) else row["unit"]
    least = "at least" if row["better"] == "higher" else "at most"
    return ", ".join(f"{words} {amount(row[key], None, None, unit)}" for key, words in (("asked", least), ("aim", "aim"))
                     if key in row)


def verdict(row):
    if "met" in row:
        return row["met"]
    if "asked" not in row and "aim" not in row:
        return "not told apart" if "minus" in row["op"] and row.get("low", 1) <= 0 <= row.get("high", -1) else ""
    x = judged(row) if has_figure(row) else None
    if x is None:
        return ""
    reached = {key: x >= row[key] if row["better"] == "higher" else x <= row[key] for key in ("asked", "aim") if key in row}
    if reached.get("aim"):
        return "met"
    if not reached.get("asked", True):
        return "**missed**"
    return "aim missed" if "aim" in row else "met"


def origin(row):
    gone = " (gone)" if "cannot be checked out" in row.get("note", "").split(";")[0] else ""
    words = [f"{row['commit']}{gone}"] if row["commit"] else []
    words += [f"numbers {row['numbers']}"] if row["numbers"] is not None else []
    return ", ".join(words) or row["file"].removesuffix(".jsonl")


def results_page(machines, newest):
    with open(os.path.join(BENCH, "results", "shown.json")) as file:
        shown = json.load(file)
    lines, used = HEAD.split("\n"), []
    for section, claims in shown.items():
        lines.append(f"| **{section}** | | | | | | |")
        for words, op, case in claims:
            row = newest.get((op, case))
            if not row:
                sys.exit(f"bench/results/shown.json: no line has op \"{op}\" and case \"{case}\"")
            where = (row["machine"], row["date"] or "?", origin(row)) if has_figure(row) else ("", "", "")
            used.append(where[0])
            cells = (words, figure_words(row), aim_words(row), verdict(row), *where)
            lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "## Machines", "", "| machine | what it is |", "|---|---|"]
    lines += [f"| {name} | {what} |" for name, what in machines.items() if name in used]
    if len(lines) > MOST_LINES:
        sys.exit(f"bench/RESULTS.md would have {len(lines)} lines, more than {MOST_LINES}: shown.json shows too much")
    return "\n".join(lines) + "\n"


def cell_words(row, paper):
    if row is None:
        return ""
    if paper:
        return amount(row.get("peer_value"), None, None) + spread(row, "peer_").replace("s.e. ", "").replace("s.d. ", "") \
            if row.get("peer") == "the paper" else ""
    if not has_figure(row):
        return row.get("note", "not measured").split(";")[0].split(":")[0]
    words = amount(row["value"], row.get("least"), row.get("greatest"), row["unit"] if row["unit"] in SHOWN_UNITS else None)
    words += spread(row)
    return words.replace("s.e. ", "").replace("s.d. ", "") + (f" of {row['of']}" if is_counted(row) else "")


def table_lines(newest, words, place):
    """the table of a marker's words: PREFIX | HEADING | OP ..."""
    prefix, heading, *columns = [w.strip() for w in words.split("|")]
    columns = [[w.strip() for w in c.split(" => ")] for c in columns]
    ops = [c[0].removeprefix("paper ") for c in columns]
    found = {}
    for (op, case), row in newest.items():
        if op in ops and case.startswith(prefix + ": "):
            found.setdefault(case[len(prefix) + 2:], {})[op] = row
    if not found:
        sys.exit(f"{place}: no case begins with \"{prefix}: \"")
    yield f"| {heading} | " + " | ".join(c[-1].replace("paper ", "the paper's ", 1) for c in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for name, rows in found.items():
        cells = [cell_words(rows.get(op), c[0].startswith("paper ")) for op, c in zip(ops, columns)]
        yield f"| {name} | " + " | ".join(cells) + " |"


def study_page(path, newest):
    with open(path) as file:
        text = file.read()
    return re.sub(r"(?ms)^<!-- table (.*?) -->\n.*?^<!-- end -->", lambda m: "\n".join(
        [f"<!-- table {m[1]} -->", *table_lines(newest, m[1], path), "<!-- end -->"]), text)


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    machines, newest, _, faults = read()
    if faults:
        sys.exit("\n".join(faults))
    pages = {os.path.join(BENCH, "RESULTS.md"): results_page(machines, newest)}
    pages.update((p, study_page(p, newest)) for p in sorted(glob.glob(os.path.join(BENCH, "studies", "*.md"))))
    other = []
    for path, text in pages.items():
        if os.path.exists(path):
            with open(path) as file:
                if file.read() == text:
                    continue
        other.append(os.path.relpath(path, os.path.dirname(BENCH)))
        if not sys.argv[1:]:
            with open(path, "w") as file:
                file.write(text)
    if sys.argv[1:] and other:
        sys.exit(f"{', '.join(other)}: not what bench/results.py writes; run it")


if __name__ == "__main__":
    main()
