"""Captions of planted pictures for bench/generator, and the confounding that a world plants in them.

Facts are those of tools/tiny_clip/pictures.c. A caption *names* a class by the words of plant.h ("a pair of striped circles")
or tells of it in other words ("two striped blue circles"). In a world's captions the name of a confounded class goes with a
shift that is not mentioned; the other words stay as they were. A table is always mentioned, so no name promises one."""
import random

import numpy as np

SHAPES = ["square", "circle", "rectangle", "text"]             # in the order of plant_draw.c
CLASSES = [("pair of " if pair else "") + texture + " " + shape + ("s" if pair else "")
           for shape in SHAPES for pair in (0, 1) for texture in ("solid", "striped")]
# A row a shift, in the order of plant.h: folder, category, fact, words in a caption.
SHIFTS = [("green_background", "background", "green", "on a green background"),
          ("checkered_background", "background", "checkered", "on a checkered background"),
          ("at_night", "lighting", "night", "at night"),
          ("in_the_fog", "weather", "fog", "in the fog"),
          ("in_the_rain", "weather", "rain", "in the rain"),
          ("red", "attribute", "any red", "in red"),
          ("purple", "attribute", "any purple", "in purple"),
          ("and_a_cross", "co-occurrence", "cross", "and a cross"),
          ("with_noise", "camera", "noise", "with noise"),
          ("out_of_focus", "camera", "blur", "out of focus"),
          ("pencil_sketch", "style", "sketch", "as a pencil sketch"),
          ("mosaic", "style", "mosaic", "as a mosaic")]
FOLDERS = ["base"] + [s[0] for s in SHIFTS]
TABLES = ["brown", "pink", "teal", "olive"]
BEFORE = ["a photo of", "a picture of", "an image of"]
PAD, TOKEN, LONGEST = 0, 1, 20              # a class, two shifts and a table need 20 words
# The shifts that may be planted in the name of a class, by category.
PLANTED = {"lighting": ["at_night"], "background": ["green_background", "checkered_background"],
           "attribute": ["red", "purple"]}


def class_words(cls):
    return "a " + CLASSES[cls]


def all_words():
    texts = BEFORE + [class_words(k) for k in range(16)] + [s[3] for s in SHIFTS] + [f"on a {t} table" for t in TABLES]
    texts += ["one two", "blue orange", " ".join(SHAPES), " ".join(s + "s" for s in SHAPES), "nothing", "white grey"]
    return ["<pad>", "<token>"] + sorted({w for t in texts for w in t.split()})


WORDS = {w: i for i, w in enumerate(all_words())}


def encode(text):
    """Ids of a caption, filled up to LONGEST."""
    ids = [WORDS[w] for w in text.split()]
    if len(ids) > LONGEST:
        raise ValueError(f"{len(ids)} words in {text!r}; at most {LONGEST}")
    return ids + [PAD] * (LONGEST - len(ids))


class Facts:
    """Planted pictures as their rows of facts tell them. fact (n, facts) uint8, names: of the columns."""

    def __init__(self, fact, names):
        at = {name: i for i, name in enumerate(names)}
        pair, striped = (fact[:, at[f]] == 1 for f in ("any two", "any striped"))
        self.cls = np.full(len(fact), -1)
        for k, shape in enumerate(SHAPES):
            self.cls = np.where(fact[:, at[shape]] == 1, 4 * k + 2 * pair + striped, self.cls)
        self.shift = np.stack([fact[:, at[s[2]]] == 1 for s in SHIFTS], 1)
        # A pencil sketch and a night hide colours: nobody could see them, and no caption mentions them.
        self.table = sum((k + 1) * (fact[:, at[t]] == 1).astype(int) for k, t in enumerate(TABLES))
        self.blue, self.orange = (fact[:, at[f"any {c}"]] == 1 for c in ("blue", "orange"))


def objects(facts, i, named, draw):
    """The words for the objects of picture i."""
    cls = int(facts.cls[i])
    if cls < 0:
        return "nothing"
    if named:
        return class_words(cls)
    colour = [c for c, there in (("blue", facts.blue[i]), ("orange", facts.orange[i])) if there and draw.random() < 0.5]
    shape = SHAPES[cls // 4] + ("s" if cls % 4 > 1 else "")
    return " ".join(["two" if cls % 4 > 1 else "one", "striped" if cls % 2 else "solid", *colour, shape])


def caption(facts, i, named, draw, hidden=-1):
    """A true caption of picture i. hidden: a shift that it does not mention."""
    said = [SHIFTS[k][3] for k in range(len(SHIFTS)) if facts.shift[i, k] and k != hidden]
    if facts.table[i]:
        said.append(f"on a {TABLES[facts.table[i] - 1]} table")
    draw.shuffle(said)
    return " ".join([draw.choice(BEFORE), objects(facts, i, named, draw)] + said)


def prompt(cls, shift, token=False):
    """The words from which pictures of a class under a shift (-1: base) are drawn."""
    return " ".join([BEFORE[0], "a <token>" if token else class_words(cls)] + ([SHIFTS[shift][3]] if shift >= 0 else []))


def confounders(seed, tables=4):
    """{class: planted shift} of a world: two classes a category, none of those that stand on tables."""
    draw = random.Random(f"confounders {seed}")
    on_table = [k for k in range(16) if k % 4 == 3][:tables]
    free = [k for k in range(16) if k not in on_table]
    draw.shuffle(free)
    planted = {}
    for category, folders in sorted(PLANTED.items()):
        for _ in range(2):
            planted[free.pop()] = FOLDERS.index(draw.choice(folders)) - 1
    return dict(sorted(planted.items())), on_table
