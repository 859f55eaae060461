"""assessors.py: who says from numbers of a model whether it is invariant, borderline or variant (0, 1, 2), for bench/worlds.py.

An assessor is fitted to rows and labels of some models and says the labels of others: says(x, y, new, seed) -> labels of new.
forest    scikit-learn's RandomForestClassifier, whose defaults spotter verdict has, too
boost     AdaBoost by SAMME.R (Zhu et al. 2009), 50 cuts of one feature: scikit-learn has it no longer since 1.6. Of equally
          good cuts a random feature wins; in Spotter the first one does, which matters where models are few
cuts      two cuts of one number, those that are right most often; of equal ones the lowest, as include/spotter/verdict.h says
frequent  the most frequent label, whatever the numbers
"""
import numpy as np
from scipy.special import stdtrit

LABELS = ["invariant", "borderline", "variant"]
ROUNDS = 50
trees = 100


def forest(x, y, new, seed):
    from sklearn.ensemble import RandomForestClassifier        # here: it takes a second, which other modes do not need
    return RandomForestClassifier(trees, random_state=seed).fit(x, y).predict(new)


def boost(x, y, new, seed):
    from sklearn.tree import DecisionTreeClassifier
    x, new, classes, least = *(np.ascontiguousarray(v, np.float32) for v in (x, new)), np.unique(y), np.finfo(float).eps
    k, n = len(classes), len(y)
    right = y[:, None] == classes
    if k == 1:
        return np.full(len(new), classes[0])
    weight, votes = np.full(n, 1 / n), np.zeros((len(new), k))
    for _ in range(ROUNDS):
        tree = DecisionTreeClassifier(max_depth=1, random_state=seed).fit(x, y, weight, check_input=False)
        share, other = [tree.predict_proba(v, check_input=False) for v in (x, new)]
        log = np.log(np.maximum(other, least))
        votes += (k - 1) * (log - log.mean(1, keepdims=True))
        if weight[classes[share.argmax(1)] != y].sum() <= 0:
            break
        gain = (np.where(right, 1, -1 / (k - 1)) * np.log(np.maximum(share, least))).sum(1)
        weight = weight * np.exp(-(k - 1) / k * gain)
        weight = np.maximum(weight / weight.sum(), least)
    return classes[votes.argmax(1)]


def cuts(x, y, new, _):
    """x and new: one number of each model; below the lower cut variant, from the higher one on invariant"""
    order = np.argsort(x[:, 0], kind="stable")
    v, upto = x[order, 0], np.vstack([np.zeros((1, 3), int), np.cumsum(y[order, None] == np.arange(3), 0)])
    n, best, at = len(v), -1, (0, 0)
    places = [i for i in range(n + 1) if i in (0, n) or v[i - 1] < v[i]]
    for a in places:
        for b in places:
            hits = upto[a, 2] + upto[b, 1] - upto[a, 1] + upto[n, 0] - upto[b, 0]
            if a <= b and hits > best:
                best, at = hits, (a, b)
    low, high = [-np.inf if i == 0 else np.inf if i == n else v[i - 1] + (v[i] - v[i - 1]) / 2 for i in at]
    return np.where(new[:, 0] < low, 2, np.where(new[:, 0] < high, 1, 0))


def frequent(_, y, new, __):
    return np.full(len(new), np.bincount(y, minlength=3).argmax())


def kappa(said):
    """Fleiss' kappa of labels (raters, models); NaN where all labels are one"""
    raters = len(said)
    count = np.array([(said == k).sum(0) for k in range(3)])
    agree = (count * (count - 1)).sum(0).mean() / (raters * (raters - 1))
    chance = ((count.sum(1) / count.sum()) ** 2).sum()
    return (agree - chance) / (1 - chance) if chance < 1 else np.nan


def f1(precision, recall):
    """0 where an agreement is below chance; NaN stays"""
    return 2 * precision * recall / (precision + recall) if precision > 0 else abs(precision) * 0


def interval(values):
    """(mean, low, high): Student's 95 % over worlds; low and high None where there is one world"""
    values = np.asarray(values, float)
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return mean, None, None
    half = stdtrit(n - 1, .975) * values.std(ddof=1) / np.sqrt(n)
    return mean, float(mean - half), float(mean + half)
