"""Writes tests/golden/bo2019.txt: one step of the package BayesianOptimization from given points, and its model. With release
1.0.1 of the package it writes bo2019_101.txt, another step of 1.0.1, and the numbers of its searches.

    bo2019.py OUT_DIR      (in a venv: pip install bayesian-optimization==1.0.3 scikit-learn==1.2.1 scipy==1.10.1 numpy==1.24.2;
                           once more with bayesian-optimization==1.0.1)

Numbers in the order in which test_bo.c reads them. Per case: dims, points n, scaled; the points in the order of the package,
which is that of the names of the factors (n, dims); targets (n); 5 further points (5, dims); then of the model: length scale,
log likelihood, mean and deviation at those points; the greatest upper confidence bound that its search finds.
bo2019_101.txt begins with the package's restarts, tries and local searches, as its own defaults have them.

Targets are centred and normalize_y is off where `scaled` is 0: so did scikit-learn before 0.23. The package of 2019 takes the
first element of a minimum that SciPy gives as a number today; the wrapper makes it an array again.
"""
import inspect
import sys
import warnings
from importlib.metadata import version

import numpy as np

np.float = float                                     # the package still asks for it
import bayes_opt.util
from bayes_opt import BayesianOptimization
from bayes_opt.util import UtilityFunction

warnings.filterwarnings("ignore")
RANGES = {"lamp_energy": (0.3, 1), "sun_energy": (0, 5), "lamp_distance": (8, 20), "lamp_azimuth": (0, 360),
          "lamp_elevation": (-90, 90), "camera_distance": (1, 5), "camera_azimuth": (0, 180), "camera_elevation": (-90, 90),
          "camera_roll": (0, 360)}
KAPPA = 2.576
OLD = version("bayesian-optimization") == "1.0.1"
minimize = bayes_opt.util.minimize
out = []


def array_minimize(*a, **k):
    a = (lambda x, f=a[0]: float(f(x)[0]), np.ravel(a[1])) + a[2:]
    result = minimize(*a, **k)
    result.fun = np.atleast_1d(result.fun)
    return result


bayes_opt.util.minimize = array_minimize


def case(names, n, scaled, seed):
    o = BayesianOptimization(None, {k: RANGES[k] for k in names}, random_state=seed, verbose=0)
    keys = o.space.keys
    assert keys == sorted(names)
    r = np.random.RandomState(seed)
    low, high = np.array([RANGES[k] for k in keys]).T
    u = r.rand(n, len(keys))
    y = -0.5 - 0.4 * np.sin(2.5 * u[:, 0] + 1) * np.cos(2 * u[:, 1]) - 0.05 * u.sum(1)
    if not scaled:
        y = y - y.mean()
        o.set_gp_params(normalize_y=False)
    x = low + u * (high - low)
    for point, target in zip(x, y):
        o.register(dict(zip(keys, point)), target)
    utility = UtilityFunction("ucb", KAPPA, 0)
    # by chance the package's starts find the highest hill or not; a case is one where they do
    o.set_gp_params(n_restarts_optimizer=25)         # as in version 1.0.1, whose own number it is
    suggested = o.suggest(utility)
    suggestion = np.array([suggested[k] for k in keys])
    hills = [o._gp.log_marginal_likelihood([t]) for t in np.linspace(np.log(1e-5), np.log(1e5), 2000)]
    assert max(hills) <= o._gp.log_marginal_likelihood_value_ + 1e-6, f"choose another seed than {seed}"
    asked = low + r.rand(5, len(keys)) * (high - low)
    mean, deviation = o._gp.predict(asked, return_std=True)
    out.extend([len(keys), n, scaled, *x.ravel(), *y, *asked.ravel(), o._gp.kernel_.length_scale,
                o._gp.log_marginal_likelihood_value_, *mean, *deviation,
                utility.utility(suggestion[None], o._gp, 0)[0]])


if OLD:
    searches = inspect.signature(bayes_opt.util.acq_max).parameters
    out += [BayesianOptimization(None, RANGES)._gp.n_restarts_optimizer, searches["n_warmup"].default, searches["n_iter"].default]
    case(list(RANGES), 40, 0, 5)
    case(["camera_elevation", "camera_azimuth"], 20, 1, 12)
else:
    for scaled in 0, 1:
        case(["camera_distance", "sun_energy"], 12, scaled, 1)
        case(["camera_elevation", "camera_azimuth"], 20, scaled, 12)
        case(list(RANGES), 40, scaled, 5)
with open(sys.argv[1] + ("/bo2019_101.txt" if OLD else "/bo2019.txt"), "w") as f:
    f.write("".join(f"{v:.17g}\n" for v in out))
