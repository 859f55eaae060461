"""ontology.py VAL.hdf5: the keywords of the 1,712 pictures of IN9 that the authors of background invariance testing (paper 003)
published, and counts of them. Writes tests/golden/ontology_keywords.txt and ontology_counts.txt.

VAL.hdf5 is dbs/bgdb_items_val.hdf5 of github.com/Zukang-Liao/bgtest (tools/golden/ontology.py --fetch PATH gets it where a
network allows). Its only array, (1712, 516) float32, lies at byte 2432: label, 150 percentages of the segmentation, 365 logits
of the scene. Keywords are numbered 0 to 149 and 150 to 514.

ontology_keywords.txt: a line of keywords for each picture, by the paper's rule: above 1 % of the pixels; the first scene.
ontology_counts.txt: for the paper's rule and for the code's (more than 0.1 %; the first five scenes): mean, least and greatest
number of keywords, different keywords, pairs that occur together. Then for supports of .005, .01, .02, .05, .10 the mean number
of frequent keywords of a picture by the paper's rule. Then the mean number of keywords after 0 to 5 expansions for five pairs
of least support (of a keyword; 0: any pair) and least confidence, found here by breadth-first search."""
import hashlib
import os
import sys
import urllib.request

import numpy

URL = "https://raw.githubusercontent.com/Zukang-Liao/bgtest/HEAD/dbs/bgdb_items_val.hdf5"
SHA256 = "69c6abc3e269ea7234b13ceb6c34f61cf7fe358c2e380f17deb06b02d4fc2d0c"
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/golden")
SUPPORTS = (.005, .01, .02, .05, .10)
GRAPHS = ((0, 0), (.005, .05), (.005, .10), (.01, .10), (.01, .20))


def read(path):
    data = open(path, "rb").read()
    assert hashlib.sha256(data).hexdigest() == SHA256, f"{path} is another file"
    return numpy.frombuffer(data, "<f4", 1712 * 516, 2432).reshape(1712, 516)


def keywords(table, percent, scenes):
    first = numpy.argsort(-table[:, 151:], axis=1, kind="stable")[:, :scenes]
    there = numpy.zeros((len(table), 515), bool)
    there[:, :150] = table[:, 1:151] > percent
    numpy.put_along_axis(there, 150 + first, True, axis=1)
    return there


def counts(there):
    n, both = there.sum(1), there.T.astype(int) @ there.astype(int)
    return [n.mean(), n.min(), n.max(), there.any(0).sum(), (numpy.triu(both, 1) > 0).sum()]


def levels(there, support, confidence):
    both = there.T.astype(float) @ there.astype(float)
    count = numpy.diag(both)
    node = (count > 0) & (count / len(there) >= support)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        edge = (both > 0) & (both / count[:, None] >= confidence) & node[:, None] & node[None, :]
    numpy.fill_diagonal(edge, False)
    have, sizes = there & node, []
    for _ in range(6):
        sizes.append(have.sum(1).mean())
        have = have | (have.astype(float) @ edge > 0)
    return sizes


def main():
    if sys.argv[1] == "--fetch":
        urllib.request.urlretrieve(URL, sys.argv[2])
        sys.argv[1:] = sys.argv[2:]
    table = read(sys.argv[1])
    paper, code = keywords(table, 1, 1), keywords(table, .1, 5)
    with open(os.path.join(GOLDEN, "ontology_keywords.txt"), "w") as f:
        for row in paper:
            f.write(" ".join(str(k) for k in numpy.flatnonzero(row)) + "\n")
    with open(os.path.join(GOLDEN, "ontology_counts.txt"), "w") as f:
        for there in (paper, code):
            f.write(" ".join(f"{v:.9g}" for v in counts(there)) + "\n")
        share = paper.mean(0)
        f.write(" ".join(f"{paper[:, share >= s].sum(1).mean():.9g}" for s in SUPPORTS) + "\n")
        for graph in GRAPHS:
            f.write(" ".join(f"{v:.9g}" for v in levels(paper, *graph)) + "\n")


if __name__ == "__main__":
    main()
