#!/usr/bin/env python3
"""suspect_labels.py > tests/golden/suspect_labels.txt: rows that cleanlab (pip install cleanlab) finds by confident learning.

Per world, a line each: rows and classes; labels; probabilities, row by row, as whole thousandths; 1 for the rows that
find_label_issues(filter_by="confident_learning") marks; 1 for the rows on which cleanlab does not do as the paper says: where two
classes or more are above their thresholds, it takes the most probable class of all, also if that is below its own."""
import numpy as np
from cleanlab.count import get_confident_thresholds
from cleanlab.filter import find_label_issues

r = np.random.default_rng(35)
for n, classes, flipped, sharp, uneven in ((60, 2, 0.1, 3, 0), (200, 3, 0.1, 2, 1), (300, 5, 0.2, 3, 1.5), (150, 4, 0.3, 1, 0),
                                           (100, 10, 0.1, 4, 1), (300, 4, 0.2, 1, 3)):
    truth = r.integers(0, classes, n)
    label = np.where(r.random(n) < flipped, r.integers(0, classes, n), truth)
    label[:classes] = np.arange(classes)
    score = r.normal(size=(n, classes)) + sharp * (np.arange(classes) == truth[:, None]) + np.linspace(0, uneven, classes)
    prob = np.exp(score) / np.exp(score).sum(1, keepdims=True)
    whole = np.floor(1000 * prob).astype(int)
    whole[np.arange(n), prob.argmax(1)] += 1000 - whole.sum(1)
    prob = whole / 1000
    marked = find_label_issues(label, prob, filter_by="confident_learning", n_jobs=1)
    confident = prob >= get_confident_thresholds(label, prob) - 1e-6
    other = (confident.sum(1) > 1) & ~confident[np.arange(n), prob.argmax(1)]
    print(n, classes)
    for line in (label, whole.ravel(), marked.astype(int), other.astype(int)):
        print(*line)
