"""Writes tests/golden/information.bin, tree.bin and barlow.bin: scikit-learn's mutual_info_classif with its noise, its decision
trees where no two cuts are equally good, and what the authors' code says about a tree's leaves.

    barlow.py OUT_DIR VIEW.npz UPSTREAM      (scikit-learn 1.2.1 and singlasahil14/barlow 2aff22b made the committed files)

VIEW.npz holds `feature` (n, d) float32 and `confidence` (n) of a real run, UPSTREAM is a clone of the authors' repository.
Little endian. information.bin: int32 cases; per case int32 n, d; float32 x (n, d); uint8 y (n); float64 noise (n, d),
information (d). tree.bin: int32 cases; per case int32 n, d, depth, nodes; float32 x (n, d); uint8 y (n); float64 weight;
per node, depth first, int32 feature, left, right (-1 at leaves), rows; float64 threshold, weighted zeros, weighted ones,
entropy in bits; int32 leaf of each row (n). barlow.bin: int32 n, d; float32 x (n, d), confidence (n); int32 variants; per
variant int32 depth, features (those of greatest mean); float64 ALER, BER; int32 leaves with failures, most important first;
per leaf float64 importance, int32 size, rows.

scikit-learn draws among equal cuts. A tree is written only if the best cut of each of its nodes beats every other by 1e-9,
which is looked for here by brute force.
"""
import sys
import types
from collections import defaultdict

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from sklearn.feature_selection._mutual_info import _compute_mi_cd
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeClassifier

r = np.random.RandomState(5)


def relu(a):
    return np.maximum(a, 0)


def information_cases(view):
    y = (r.rand(300) < 0.2).astype("u1")
    x = r.randn(300, 12)
    x[:, :4] += y[:, None] * [0.5, 1, 2, 4]
    x[:, 4:8] = relu(x[:, 4:8] + y[:, None])
    x[:, 8] = r.randint(0, 5, 300) + y        # many ties beside 0
    x[:, 9] = 1e-12 * x[:, 9]                 # the noise is not small
    x[:, 10] = 1e6 + 1e-1 * x[:, 10]
    x[:, 11] = relu(x[:, 11] - 1) * 1e3
    yield x.astype("f4"), y
    small = np.zeros(40, "u1")
    small[[3, 9, 17, 21, 30, 31, 38, 39]] = 1
    yield relu(r.randn(40, 3) + small[:, None]).astype("f4"), small
    one = np.zeros(30, "u1")
    one[7] = 1                                # a class of one row is left out
    yield r.randn(30, 2).astype("f4"), one
    yield r.randn(500, 1).astype("f4"), (r.rand(500) < 0.5).astype("u1")
    x, y = view["feature"], view["confidence"] < 0.5
    yield x[:400, ::16], y[:400].astype("u1")


def write_information(out, view):
    cases = list(information_cases(view))
    put(out, len(cases), "<i4")
    for x, y in cases:
        want = mutual_info_classif(x.astype(float), y, random_state=0, discrete_features=False)
        noise = np.random.RandomState(0).standard_normal(size=x.shape)
        x64 = scale(x.astype(float), with_mean=False)
        x64 += 1e-10 * np.maximum(1, np.abs(x64).mean(0)) * noise
        assert all(_compute_mi_cd(x64[:, j], y, 3) == want[j] for j in range(x.shape[1]))      # it is its noise
        put(out, x.shape, "<i4")
        put(out, x, "<f4")
        put(out, y, "u1")
        put(out, noise, "<f8")
        put(out, want, "<f8")
        print("information", x.shape, int(y.sum()), np.round(want[:6], 4))


def impurity(a, b):
    w = a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        return -(np.where(a > 0, a * np.log2(a / w), 0) + np.where(b > 0, b * np.log2(b / w), 0))


def tied(x, y, weight):
    """Whether another cut of these rows is as good as the best."""
    prices = []
    for column in x.T:
        order = np.argsort(column, kind="stable")
        v, ones = column[order], np.cumsum(y[order])[:-1] * weight
        zeros = np.cumsum(1 - y[order].astype(int))[:-1].astype(float)
        cut = v[1:] > v[:-1] + np.float32(1e-7)
        all_ones, all_zeros = y.sum() * weight, float((y == 0).sum())
        prices.append((impurity(zeros, ones) + impurity(all_zeros - zeros, all_ones - ones))[cut])
    prices = np.sort(np.concatenate(prices))
    return len(prices) > 1 and prices[1] - prices[0] < 1e-9


def pure(y):
    """scikit-learn cuts a node of one outcome where rounding leaves it some entropy: no example to follow."""
    return y.min() == y.max()


def fit(x, y, depth):
    weight = (y == 0).sum() / y.sum()
    model = DecisionTreeClassifier(criterion="entropy", max_depth=depth, class_weight={0: 1, 1: weight}, random_state=0)
    t = model.fit(x, y).tree_
    path = model.decision_path(x).toarray().astype(bool)
    free = not any(t.feature[k] >= 0 and (pure(y[path[:, k]]) or tied(x[path[:, k]], y[path[:, k]], weight))
                   for k in range(t.node_count))
    return weight, t, model.apply(x), free


def deepest(x, y, most):
    """The deepest tree up to `most` without ties."""
    best = None
    for depth in range(1, most + 1):
        found = fit(x, y, depth)
        if not found[3]:
            break
        best = (depth, *found)
    return best


def tree_cases(view):
    for n, d, rate, most in [(400, 3, 0.5, 12), (300, 2, 0.3, 8), (250, 1, 0.4, 12), (500, 8, 0.5, 6), (60, 4, 0.2, 4)]:
        y = (r.rand(n) < rate).astype("u1")
        x = r.randn(n, d)
        x[:, 0] += y
        if d > 2:
            x[:, 1:3] = relu(x[:, 1:3] - y[:, None] * 0.5)
        yield x.astype("f4"), y, most
    y = (r.rand(200) < 0.5).astype("u1")      # steps about as small as the least gap between two values
    yield (1 + np.cumsum(r.rand(200, 1) * 3e-7, 0)).astype("f4"), y, 3
    x, y = view["feature"], view["confidence"] < 0.5
    yield x[:500, ::16], y[:500].astype("u1"), 12


def write_trees(out, view):
    cases = [(x, y, deepest(x, y, most)) for x, y, most in tree_cases(view)]
    cases = [case for case in cases if case[2]]
    put(out, len(cases), "<i4")
    for x, y, (depth, weight, t, leaf, _) in cases:
        put(out, [*x.shape, depth, t.node_count], "<i4")
        put(out, x, "<f4")
        put(out, y, "u1")
        put(out, weight, "<f8")
        for k in range(t.node_count):
            inner = t.children_left[k] >= 0
            put(out, [t.feature[k] if inner else -1, t.children_left[k], t.children_right[k], t.n_node_samples[k]], "<i4")
            put(out, [t.threshold[k] if inner else 0, *t.value[k, 0], t.impurity[k]], "<f8")
        put(out, leaf, "<i4")
        print("tree", x.shape, int(y.sum()), "depth", depth, "nodes", t.node_count)


def write_barlow(out, view, upstream):
    """The authors' select_important_features by mean, train_decision_tree and important_leaf_nodes."""
    helpers = types.ModuleType("standard_utils")      # theirs asks for torch, of which nothing is used here
    helpers.np, helpers.create_dict = np, lambda unique, counts: defaultdict(int, zip(unique, counts))
    sys.modules["standard_utils"] = helpers
    sys.path.insert(0, upstream)
    import decision_tree_utils as theirs
    x, confidence = view["feature"][:500, ::16], view["confidence"][:500]
    fails = confidence < 0.5
    variants = []
    for depth, features in [(1, 16), (2, 16), (11, 16), (2, 5)]:
        chosen = x[:, np.argsort(x.astype(float).mean(0))[-features:]]
        assert fit(chosen, fails.astype("u1"), depth)[3], "ties"
        t = theirs.train_decision_tree(chosen, fails, max_depth=depth)
        rate, coverage = t.compute_leaf_error_rate_coverage(chosen, fails)
        order = [k for k in theirs.important_leaf_nodes(t, rate, coverage) if rate[k] > 0]
        importance = (rate * coverage)[order]
        assert len(set(importance)) == len(order)
        aler = t.compute_average_leaf_error_rate(chosen, fails)
        variants.append((depth, features, aler, fails.mean(), [(i, t.compute_leaf_data(chosen, k))
                                                               for i, k in zip(importance, order)]))
    put(out, x.shape, "<i4")
    put(out, x, "<f4")
    put(out, confidence, "<f4")
    put(out, len(variants), "<i4")
    for depth, features, aler, ber, leaves in variants:
        put(out, [depth, features], "<i4")
        put(out, [aler, ber], "<f8")
        put(out, len(leaves), "<i4")
        for importance, rows in leaves:
            put(out, importance, "<f8")
            put(out, [len(rows), *rows], "<i4")
        print("barlow depth", depth, features, "ALER", aler, "BER", ber, [(len(rows), round(i, 4)) for i, rows in leaves])


def put(out, a, kind):
    out.write(np.asarray(a, kind).tobytes())


given = np.load(sys.argv[2])
with open(sys.argv[1] + "/information.bin", "wb") as out:
    write_information(out, given)
with open(sys.argv[1] + "/tree.bin", "wb") as out:
    write_trees(out, given)
with open(sys.argv[1] + "/barlow.bin", "wb") as out:
    write_barlow(out, given, sys.argv[3])
