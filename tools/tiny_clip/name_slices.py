"""name_slices.py SPOTTER RUN OUT --ecs N - the share of true words among those that the tiny CLIP finds for the slices of
planted blindspots.

For every EC of a sweep's run: `spotter view --images`, `spotter discover --method planespot-tsne` with phrases.txt and the
attributes of the scenes, into OUT. No setting was chosen by its result. The rules:

  slice    counts for a blindspot if at least 80 % of its rows lie in it (lambda_p of the sweep). A blindspot with such a slice
           is found; the first of its slices, by rank, is its first slice.
  true     what phrases.csv says of a phrase holds for every picture of the blindspot and not for every picture of the
           class; the same for an item of a conjunction.
  share    true words among the three nearest; true items among those of the conjunction (one to three).
  chance   the share of true phrases (items) among all, and among those that vary: they hold for some pictures of the class
           and not for all.
  fit      in place of true: it holds for at least 80 % of the slice's rows and not for every picture of the class. A slice that
           is a part of a blindspot has attributes of its own.
  can be   the share that the list allows: fewer than three phrases may be true of a blindspot."""
import argparse
import csv
import json
import os
import statistics
import struct
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP, PART = 3, 0.8
# Values of an attribute that does not vary in an EC, and so has no column.
USUAL = {"size": "normal", "color": "blue", "texture": "solid", "number": "one"}


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def integers(path, name):
    """A tensor of 64-bit integers of a .safetensors file."""
    with open(path, "rb") as f:
        b = f.read()
    n, = struct.unpack("<Q", b[:8])
    tensor = json.loads(b[8:8 + n])[name]
    first, end = tensor["data_offsets"]
    assert tensor["dtype"] == "I64"
    return struct.unpack(f"<{(end - first) // 8}q", b[8 + n + first:8 + n + end])


def value_of(row, layer, attribute):
    """The word for a picture's value; None for an attribute of an absent object."""
    if attribute == "presence":
        return "yes" if row.get(layer) == "1" else "no"
    if layer != "background" and row.get(layer) != "1":
        return None
    usual = "white" if (layer, attribute) == ("background", "color") else USUAL.get(attribute)
    return row.get(attribute if attribute == "relative_position" else f"{layer} {attribute}", usual)


def item_holds(row, item):
    if "=" in item:
        column, value = item.split("=")
        return row[column] == value
    return row[item[4:]] == "0" if item.startswith("not ") else row[item] == "1"


def all_items(rows):
    items = []
    for column in [c for c in rows[0] if c != "file"]:
        values = sorted({r[column] for r in rows} - {""})
        if len(values) > 1:
            items += [column, "not " + column] if values == ["0", "1"] else [f"{column}={v}" for v in values]
    return items


def examine(spotter, folder, ec, out):
    view, pictures, found = (f"{out}/ec-{ec}{end}" for end in (".safetensors", "", "-found"))
    if not os.path.exists(f"{found}/slices.json"):
        run(spotter, "view", folder, "--ec", str(ec), "--out", view, "--images", pictures)
        run(spotter, "discover", "--no-proof", "--embeddings", view + ":feature", "--labels", view + ":label", "--probs",
            view + ":confidence", "--images", pictures, "--ids", pictures + "/rows.csv:file", "--describe",
            f"{HERE}/model.safetensors", "--words", f"{HERE}/phrases.txt", "--attributes",
            pictures + "/rows.csv:file", "--method", "planespot-tsne", "--out", found)
    with open(f"{pictures}/rows.csv") as f:
        rows = list(csv.DictReader(f))
    members = {}
    number = {r["file"]: i for i, r in enumerate(rows)}
    with open(f"{found}/slices.csv") as f:
        for r in csv.DictReader(f):
            members.setdefault(int(r["rank"]), []).append(number[r["id"]])
    with open(f"{found}/slices.json") as f:
        slices = [s for g in json.load(f)["findings"] for s in g["slices"]]
    return rows, integers(view, "blindspots"), sorted(slices, key=lambda s: s["rank"]), members


def measure(phrases, rows, mask, slices, members):
    """A record for each slice that lies in a blindspot; the numbers of found and of all blindspots."""
    holds = {p["phrase"]: [value_of(r, p["layer"], p["attribute"]) == p["value"] for r in rows] for p in phrases}
    holds_item = {i: [item_holds(r, i) for r in rows] for i in all_items(rows)}
    out, first = [], set()
    blindspots = max(mask).bit_length()
    inside = {m: [i for i, v in enumerate(mask) if v >> m & 1] for m in range(blindspots)}
    for s in slices:
        own = members[s["rank"]]
        for m in range(blindspots):
            if sum(mask[i] >> m & 1 for i in own) < PART * len(own):
                continue
            record = {"slice": s["rank"], "blindspot": m, "first": m not in first, "size": len(own)}
            first.add(m)
            for kind, names, table in (("words", [w["phrase"] for w in s["words"][:TOP]], holds),
                                       ("items", (s.get("conjunction") or {"items": []})["items"], holds_item)):
                able = [n for n, h in table.items() if any(h) and not all(h)]
                true = [n for n in able if all(table[n][i] for i in inside[m])]
                record[kind] = [(n, n in true) for n in names]
                fit = [n for n in able if sum(table[n][i] for i in own) >= PART * len(own)]
                record[kind + " fit"] = fit
                record[kind + " fit chance"] = len(fit) / len(table), len(fit) / len(able)
                record[kind + " true"] = true
                record[kind + " chance"] = len(true) / len(table), len(true) / len(able)
                record[kind + " can be"] = min(1, len(true) / len(names)) if names else None
            out.append(record)
    return out, len(first), blindspots


def error_over_ecs(records, shares):
    """The standard error of the mean of all shares: slices of an EC are not independent."""
    mean, off = statistics.mean(shares), {}
    for r, share in zip(records, shares):
        off[r["ec"]] = off.get(r["ec"], 0) + share - mean
    n = len(off)
    return (sum(v * v for v in off.values()) * n / (n - 1)) ** 0.5 / len(shares) if n > 1 else float("nan")


def summary(title, records):
    mean = statistics.mean
    print(f"{title}: {len(records)} slices")
    for kind in ("words", "items"):
        some = [r for r in records if r[kind]]
        if not some:
            continue
        true, fit = ([[n in r[kind + end] for n, _ in r[kind]] for r in some] for end in (" true", " fit"))
        able, every = (mean(r[kind + " can be"] for r in some), mean(all(t) for t in true))
        print(f"  {kind} of {len(some)} slices: the first is true of {mean(t[0] for t in true):.2f}, all are true of "
              f"{every:.2f}")
        for what, marks, chance in (("true", true, " chance"), ("fit", fit, " fit chance")):
            wide, narrow = (mean(r[kind + chance][k] for r in some) for k in (0, 1))
            shares = [mean(m) for m in marks]
            print(f"    {what:4}  share {mean(shares):.2f} (s.e. {error_over_ecs(some, shares):.2f})   chance {wide:.2f} of "
                  f"all, {narrow:.2f} of those that vary" + (f"   can be {able:.2f}" if what == "true" else ""))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("spotter")
    p.add_argument("run")
    p.add_argument("out")
    p.add_argument("--ecs", type=int, required=True, help="number of ECs, from 0")
    args = p.parse_args()
    os.makedirs(args.out, exist_ok=True)
    with open(f"{HERE}/phrases.csv") as f:
        phrases = list(csv.DictReader(f))
    every, found, planted = [], 0, 0
    for ec in range(args.ecs):
        records, hit, of = measure(phrases, *examine(args.spotter, args.run, ec, args.out))
        found, planted, every = found + hit, planted + of, every + [{**r, "ec": ec} for r in records]
        for r in records:
            said = [", ".join(n + ("" if t else " (false)") for n, t in r[k]) for k in ("words", "items")]
            print(f"EC {ec}, slice {r['slice']} ({r['size']} rows, blindspot {r['blindspot']}): {said[0]} | "
                  f"{said[1] or 'none'}")
            if r["first"]:
                print(f"    true phrases: {', '.join(r['words true'])}")
    print(f"{found} of {planted} blindspots have a slice")
    summary("all slices", every)
    summary("first slice of each blindspot", [r for r in every if r["first"]])


if __name__ == "__main__":
    main()
