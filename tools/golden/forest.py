"""Writes tests/golden/forest.bin (trees, forests and AdaBoost of scikit-learn, TreeSHAP of shap) and agreement.bin (Fleiss'
kappa of statsmodels).

    forest.py OUT_DIR      (scikit-learn 1.5.2, shap 0.51.0 and statsmodels 0.14 made the committed files)

Little endian.
1. Trees on all columns, by Gini and entropy. int32 cases; per case int32 n, d, classes, gini, depth (0: no limit), weighted,
   nodes; float32 x (n, d); uint8 y (n); float64 weight (n) if weighted; per node, depth first, int32 feature, left, right,
   rows; float64 threshold; float64 weight by class (classes).
2. A fixed data set: int32 n, d, classes, splits, train; float32 x; uint8 y; int32 rows (splits, n), of which the first `train`
   are fitted to. Then for the forest, SAMME.R and SAMME: float64 mean and standard deviation of the accuracies over splits and
   SEEDS seeds, int32 their number; and over seeds alone, float64 mean accuracy of each split (splits).
3. AdaBoost without ties, SAMME.R and SAMME: int32 cases; per case int32 n, m, d, classes, samme, rounds; float32 x (n + m, d);
   uint8 y (n); float64 weight (n), staged shares of the last m rows (rounds, m, classes).
4. A forest and its explanation: int32 features, classes, trees, nodes, rows; int32 start (trees + 1), feature, left, right
   (nodes); float64 threshold, cover (nodes), share (nodes, classes); float32 x (rows, features); float64 shares (rows,
   classes), base (classes), value (rows, features, classes).
agreement.bin: int32 cases; per case int32 subjects, categories; int32 count (subjects, categories); float64 kappa.

scikit-learn takes one of equal cuts by chance. A tree or a boosting is written only if every best cut beats every other by more
than rounding, which is looked for by brute force here.
"""
import sys
import warnings

import numpy as np
import shap
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.inter_rater import fleiss_kappa

warnings.filterwarnings("ignore")
SEEDS, SPLITS = 10, 10
r = np.random.RandomState(11)
out = open(sys.argv[1] + "/forest.bin", "wb")


def ints(*a):
    for v in a:
        out.write(np.asarray(v, "<i4").tobytes())


def doubles(*a):
    for v in a:
        out.write(np.asarray(v, "<f8").tobytes())


def data(n, d, classes, noise):
    x = r.randn(n, d).astype("f4")
    s = x[:, 0] - 0.7 * x[:, 1 % d] + x[:, 2 % d] * x[:, 3 % d] + noise * r.randn(n)
    return x, np.searchsorted(np.quantile(s, np.arange(1, classes) / classes), s).astype("u1")


def impurity(sums, gini):
    w = sums.sum(-1)
    with np.errstate(all="ignore"):
        if gini:
            return w - (sums ** 2).sum(-1) / w
        return -np.nansum(sums * np.log(sums / w[..., None]), -1)


def clear_cut(x, y, w, classes, gini):
    """Is one cut better than all others by 1e-9 of the weight, and is there a reason to cut? By rounding, scikit-learn may see
    impurity in a node of one class."""
    best = []
    if len(np.unique(y)) < 2:
        return False
    for f in range(x.shape[1]):
        order = np.argsort(x[:, f], kind="stable")
        left = np.cumsum(np.eye(classes)[y[order]] * w[order, None], 0)[:-1]
        price = impurity(left, gini) + impurity(left[-1] + np.eye(classes)[y[order[-1]]] * w[order[-1]] - left, gini)
        best.extend(price[np.diff(x[order, f]) > 1e-7])
    best = np.sort(best)
    return len(best) < 2 or best[1] - best[0] > 1e-9 * w.sum()


def is_clear(tree, x, y, w, classes, gini):
    paths = tree.decision_path(x).toarray().astype(bool) & (w > 0)[:, None]
    return all(clear_cut(x[paths[:, k]], y[paths[:, k]], w[paths[:, k]], classes, gini)
               for k in range(tree.tree_.node_count) if tree.tree_.children_left[k] >= 0)


def trees():
    cases = []
    for n, d, classes, gini, depth, weighted in [(150, 1, 3, 1, 0, 2), (90, 1, 4, 0, 0, 2), (200, 4, 3, 1, 2, 0),
                                                 (200, 5, 2, 1, 2, 1), (200, 3, 3, 0, 3, 2), (300, 6, 5, 1, 3, 2)]:
        for _ in range(300):
            x, y = data(n, d, classes, 0.3)
            w = [np.ones(n), r.randint(0, 4, n).astype(float), r.rand(n) ** 4][weighted]
            t = DecisionTreeClassifier(criterion="gini" if gini else "entropy", max_depth=depth or None, random_state=0)
            t.fit(x, y, sample_weight=w)
            if is_clear(t, x, y, w, classes, gini):
                break
        else:
            sys.exit(f"no tree without equal cuts found: {n}, {d}, {classes}")
        cases.append((x, y, w, classes, gini, depth, weighted, t.tree_))
    ints(len(cases))
    for x, y, w, classes, gini, depth, weighted, t in cases:
        ints(len(x), x.shape[1], classes, gini, depth, weighted > 0, t.node_count)
        out.write(x.tobytes() + y.tobytes())
        if weighted:
            doubles(w)
        for k in range(t.node_count):
            ints(t.feature[k] if t.children_left[k] >= 0 else -1, t.children_left[k], t.children_right[k], t.n_node_samples[k])
            doubles(t.threshold[k] if t.children_left[k] >= 0 else 0, t.value[k][0] * t.weighted_n_node_samples[k])
        print("tree", len(x), t.node_count, t.max_depth)


def accuracies():
    x, y = data(250, 16, 3, 0.8)
    rows = np.array([r.permutation(250) for _ in range(SPLITS)])
    ints(250, 16, 3, SPLITS, 167)
    out.write(x.tobytes() + y.tobytes())
    ints(rows)
    for make in (lambda s: RandomForestClassifier(random_state=s),
                 lambda s: AdaBoostClassifier(algorithm="SAMME.R", random_state=s),
                 lambda s: AdaBoostClassifier(algorithm="SAMME", random_state=s)):
        got = np.array([[make(s).fit(x[o[:167]], y[o[:167]]).score(x[o[167:]], y[o[167:]]) for s in range(SEEDS)]
                        for o in rows])
        doubles(got.mean(), got.std(ddof=1))
        ints(got.size)
        doubles(got.mean(1))
        print("accuracy", got.mean(), got.std(ddof=1))


def boosting():
    cases = []
    for n, m, d, classes, samme, rounds in [(90, 20, 4, 3, 0, 50), (90, 20, 4, 2, 0, 30), (80, 15, 5, 3, 1, 40),
                                            (80, 15, 5, 2, 1, 30), (30, 10, 2, 2, 0, 50)]:
        for _ in range(60):
            x, y = data(n + m, d, classes, 0.05 if n == 30 else 0.6)
            if n == 30:
                y = (x[:, 0] > 0.1).astype("u1")      # the first stump is perfect, and boosting stops
            w = 0.2 + r.rand(n)                           # rows of equal weight have too many equal cuts
            fits = [AdaBoostClassifier(algorithm="SAMME" if samme else "SAMME.R", n_estimators=rounds, random_state=s)
                    .fit(x[:n], y[:n], sample_weight=w) for s in range(6)]
            staged = [np.array(list(f.staged_predict_proba(x[n:]))) for f in fits]
            if all(s.shape == staged[0].shape and np.abs(s - staged[0]).max() < 1e-13 for s in staged):
                break
        else:
            sys.exit("no boosting without ties found")
        cases.append((x, y, w, n, m, d, classes, samme, staged[0]))
    ints(len(cases))
    for x, y, w, n, m, d, classes, samme, staged in cases:
        ints(n, m, d, classes, samme, len(staged))
        out.write(x.tobytes() + y[:n].tobytes())
        doubles(w, staged)
        print("boosting", n, classes, samme, len(staged))


def explained():
    x, y = data(120, 6, 3, 0.5)
    f = RandomForestClassifier(12, random_state=3).fit(x[:100], y[:100])
    e = shap.TreeExplainer(f)
    value = e.shap_values(x[100:])
    t = [k.tree_ for k in f.estimators_]
    start = np.cumsum([0] + [k.node_count for k in t])
    ints(6, 3, len(t), start[-1], 20, start)
    ints(np.concatenate([np.where(k.children_left >= 0, k.feature, -1) for k in t]))
    ints(np.concatenate([k.children_left for k in t]), np.concatenate([k.children_right for k in t]))
    doubles(np.concatenate([np.where(k.children_left >= 0, k.threshold, 0) for k in t]))
    doubles(np.concatenate([k.weighted_n_node_samples for k in t]), np.concatenate([k.value[:, 0] for k in t]))
    out.write(x[100:].tobytes())
    doubles(f.predict_proba(x[100:]), e.expected_value, value)
    print("explained", start[-1], np.abs(value.sum(1) + e.expected_value - f.predict_proba(x[100:])).max())


def agreement():
    book = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1], [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]
    cases = [np.array(book)] + [r.multinomial(3, [0.3, 0.3, 0.4], n) for n in (250, 7)]
    global out
    out.close()
    out = open(sys.argv[1] + "/agreement.bin", "wb")
    ints(len(cases))
    for count in cases:
        ints(*count.shape, count)
        doubles(fleiss_kappa(count))
        print("kappa", fleiss_kappa(count))


for part in (trees, accuracies, boosting, explained, agreement):
    part()
out.close()
