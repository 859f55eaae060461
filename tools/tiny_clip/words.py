"""Captions of planted pictures and of SpotCheck's scenes, and the facts that make each of them true; a vocabulary for them.

A caption is a list of facts that must hold. A fact is a name that `pictures facts` prints, or "no " and such a name. So for
every picture and every caption it is known whether the caption is true, false, or about something that nobody could see."""
import json

SHAPES = ["square", "rectangle", "circle", "text"]
BODIES = ["blue", "orange", "red", "purple"]
TABLES = ["brown", "pink", "teal", "olive"]
BEFORE = ["a photo of ", "a picture of ", "an image of ", ""]

# Ends of captions, and what they say.
GROUNDS = {"on a white background": ["white"], "on a grey background": ["grey"], "on a green background": ["green"],
           "on a checkered background": ["checkered"], "on a speckled background": ["speckled"],
           "on a plain background": ["plain"], "on a table": ["table"],
           **{f"on a {t} table": [t] for t in TABLES}}
EFFECTS = {"at night": ["night"], "in the fog": ["fog"], "in the rain": ["rain"], "with noise": ["noise"],
           "out of focus": ["blur"], "and a cross": ["cross"]}
STYLES = {"a pencil sketch": ["sketch"], "a mosaic": ["mosaic"]}


def plural(shape):
    return shape + "s"


def of_number(number, words, shape):
    return {"one": f"a {words}{shape}", "two": f"two {words}{plural(shape)}", "pair": f"a pair of {words}{plural(shape)}",
            "": f"{words}{shape}"}[number]


def phrase(shape, number, adjectives):
    """Words for the objects of one shape, and their facts. number: one, two, pair, or "" for any number of them."""
    facts = [shape] + [f"{shape} {a}" for a in adjectives]
    if number:
        facts.append(f"{shape} {'one' if number == 'one' else 'two'}")
    return of_number(number, "".join(a + " " for a in adjectives), shape), facts


def class_phrases():
    """The sixteen classes of host/shifts/plant_draw.c, in its order."""
    return [phrase(shape, number, [texture]) for shape in ("square", "circle", "rectangle", "text")
            for number in ("one", "pair") for texture in ("solid", "striped")]


def shift_captions():
    """Captions of the shifts of include/spotter/plant.h, in its order."""
    return [("a photo on a green background", ["green"]), ("a photo on a checkered background", ["checkered"]),
            ("a photo at night", ["night"]), ("a photo in the fog", ["fog"]), ("a photo in the rain", ["rain"]),
            ("a photo of something red", ["any red"]), ("a photo of something purple", ["any purple"]),
            ("a photo of something and a cross", ["cross"]), ("a photo with noise", ["noise"]),
            ("a photo out of focus", ["blur"]), ("a pencil sketch", ["sketch"]), ("a mosaic", ["mosaic"])]


def single_phrases():
    """Everything that one fact says, in a few words: the phrases that name slices."""
    out = []
    for shape in SHAPES:
        out += [(f"no {shape}", [f"no {shape}"]), (f"without a {shape}", [f"no {shape}"]), (shape, [shape])]
        for a in ["small", "striped", "solid"] + BODIES:
            out.append(phrase(shape, "", [a]))
        out += [(f"a {shape} above", [f"{shape} above"]), (f"a {shape} below", [f"{shape} below"])]
    out += [phrase("square", "one", []), phrase("square", "two", []), ("a square", ["square"])]
    for a in ["small", "striped", "solid"] + BODIES:
        out += [(a, [f"any {a}"]), (f"something {a}", [f"any {a}"]), (f"a {a} object", [f"any {a}"])]
    for words, facts in {**GROUNDS, **EFFECTS}.items():
        out.append((words, facts))
    out += [("a white background", ["white"]), ("a grey background", ["grey"]), ("a speckled background", ["speckled"]),
            ("a plain background", ["plain"]), ("salt and pepper", ["speckled"]), ("nothing", ["empty"]),
            ("no object", ["empty"]), ("many objects", ["many"]), ("a cross", ["cross"]), ("a blurred photo", ["blur"]),
            ("a noisy photo", ["noise"]), ("a dark photo", ["night"])]
    return out + list(STYLES.items())


class Captions:
    """Draws captions that are true of a picture. holds(fact): 0, 1, or 2 for unknown."""

    def __init__(self, random):
        self.random = random

    def some(self, values, share):
        return [v for v in values if self.random.random() < share]

    def objects(self, holds):
        """One or two phrases about shapes that are there."""
        there = [s for s in SHAPES if holds(s) == 1]
        self.random.shuffle(there)
        words, facts = [], []
        for shape in there[:1 if self.random.random() < 0.75 else 2]:
            known = [a for a in ["small"] + BODIES + ["striped", "solid"] if holds(f"{shape} {a}") == 1]
            number = "one" if holds(f"{shape} one") == 1 else self.random.choice(["two", "pair"])
            w, f = phrase(shape, number if self.random.random() < 0.8 else "", self.some(known, 0.6))
            for place in ("above", "below"):
                if not words and self.random.random() < 0.1 and holds(f"{shape} {place}") == 1:
                    w, f = w + " " + place, f + [f"{shape} {place}"]
            words.append(w)
            facts += f
        return " and ".join(words), facts

    def draw(self, holds):
        words, facts = self.objects(holds)
        if not words or self.random.random() < 0.15:
            words, facts = self.random.choice(["something", "an object"]), ["any"]
            if holds("empty"):
                words, facts = "nothing", ["empty"]
        before = self.random.choice(BEFORE)
        for name, fact in STYLES.items():
            if holds(fact[0]) == 1 and self.random.random() < 0.5:
                before, facts = name + " of ", facts + fact
        grounds = [g for g, f in GROUNDS.items() if holds(f[0]) == 1]
        effects = [e for e, f in EFFECTS.items() if holds(f[0]) == 1]
        for end in self.some(grounds, 0.25)[:1] + self.some(effects, 0.5)[:1]:
            words, facts = words + " " + end, facts + {**GROUNDS, **EFFECTS}[end]
        return before + words, facts


# -- vocabulary ---------------------------------------------------------------------------------------------------------

def byte_symbols():
    """The letters that stand for the 256 bytes in CLIP's vocabularies, in the order of its ids."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [b for b in range(256) if b not in own]
    return [chr(b) for b in own] + [chr(256 + i) for i in range(len(other))]


def learn_merges(words):
    """Merges that make one token of every word: the commonest pair first, the first of equals."""
    parts = {w: list(w[:-1]) + [w[-1] + "</w>"] for w in sorted(words)}
    merges = []
    while any(len(p) > 1 for p in parts.values()):
        count = {}
        for p in parts.values():
            for pair in zip(p, p[1:]):
                count[pair] = count.get(pair, 0) + 1
        best = max(sorted(count), key=count.get)
        merges.append(best)
        parts = {w: merge(p, best) for w, p in parts.items()}
    return merges


def merge(parts, pair):
    out = []
    for part in parts:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return out


class Vocabulary:
    def __init__(self, words):
        symbols = byte_symbols()
        self.merges = learn_merges(words)
        names = symbols + [s + "</w>" for s in symbols] + ["".join(m) for m in self.merges]
        names = list(dict.fromkeys(names)) + ["<|startoftext|>", "<|endoftext|>"]
        self.ids = {n: i for i, n in enumerate(names)}
        self.start, self.end = len(names) - 2, len(names) - 1

    def encode(self, text):
        return [self.start] + [self.ids[w + "</w>"] for w in text.split()] + [self.end]

    def write(self, folder):
        with open(f"{folder}/vocab.json", "w", encoding="utf-8") as f:
            json.dump(self.ids, f, ensure_ascii=False, indent=0)
            f.write("\n")
        with open(f"{folder}/merges.txt", "w", encoding="utf-8") as f:
            f.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in self.merges))


MORE = """picture image photo drawing painting shape shapes object objects thing things background dark bright light black
yellow green left right top bottom big large three four one other and or with without there is are the in of to near beside
under over word words letters stripes dots row first second""".split()


def all_words():
    texts = [t for t, _ in class_phrases() + shift_captions() + single_phrases()] + BEFORE
    for shape in SHAPES:
        texts += [plural(shape), shape]
    texts += ["something an object nothing two pair above below one", *MORE]
    return {w for t in texts for w in t.split()}
