"""Writes tests/golden/gaussian_process.txt: Gaussian processes of scikit-learn (1.2.1 made the committed file).

    gaussian_process.py OUT_DIR

Numbers in the order in which test_gaussian_process.c reads them. Points and y are waves that both sides make. Per case:
rows, d, isotropic, scaled; length (d or 1), amplitude, noise; the log marginal likelihood; its slope by the logs of
lengths, amplitude and noise; mean and deviation of the noiseless function at 7 points; then of the fit from there with
10 restarts: likelihood, lengths, amplitude, noise.
"""
import sys
import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

warnings.filterwarnings("ignore")
ASKED = 7
out = []


def wave(i, a, b):
    return np.sin(a * i + b * i * i.astype(float)).astype("f4").astype(float)


def case(n, d, isotropic, scaled, length, amplitude, noise):
    x = wave(np.arange((n + ASKED) * d), 0.37, 1e-4).reshape(-1, d)
    y = 3 + 2 * np.sin(2 * x[:n, 0]) + x[:n, 1 % d] ** 2 + 0.2 * wave(np.arange(n), 1.7, 0.003)
    mean, scale = y.mean(), y.std() if scaled else 1.0
    z = (y - mean) / scale
    bounds = dict(length_scale_bounds=(1e-2, 1e2))
    matern = Matern(length_scale=length, nu=2.5, **bounds)
    full = ConstantKernel(amplitude, (1e-3, 1e3)) * matern + WhiteKernel(noise, (1e-6, 1))
    g = GaussianProcessRegressor(full, alpha=0, optimizer=None).fit(x[:n], z)
    value, slope = g.log_marginal_likelihood(g.kernel_.theta, eval_gradient=True)       # theta: amplitude, lengths, noise
    plain = GaussianProcessRegressor(ConstantKernel(amplitude) * matern, alpha=noise, optimizer=None).fit(x[:n], z)
    means, deviations = plain.predict(x[n:], return_std=True)
    fit = GaussianProcessRegressor(full, alpha=0, n_restarts_optimizer=10, random_state=0).fit(x[:n], z)
    best = np.exp(fit.kernel_.theta)
    out.extend([n, d, isotropic, scaled, *np.atleast_1d(length), amplitude, noise, value, *slope[1:-1], slope[0], slope[-1]])
    out.extend(means * scale + mean)
    out.extend(deviations * scale)
    out.extend([fit.log_marginal_likelihood_value_, *best[1:-1], best[0], best[-1]])


case(1, 2, 1, 0, 0.7, 1.0, 1e-2)
case(12, 1, 1, 1, 0.5, 1.3, 1e-3)
case(40, 3, 1, 0, 0.9, 2.0, 1e-2)
case(60, 4, 0, 1, [0.5, 0.8, 2.0, 5.0], 1.5, 3e-2)
case(130, 2, 0, 1, [0.5, 0.8], 1.5, 1e-6)
with open(sys.argv[1] + "/gaussian_process.txt", "w") as f:
    f.write("".join(f"{v:.17g}\n" for v in out))
