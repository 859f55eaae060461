"""scvis' loss in PyTorch, written from the paper and the notes in kernels/map/scvis.h; makes tests/golden/scvis_*.bin.

Run as a program it writes, per case, the loss (f64) and every third entry of its gradient (f32), computed in float64 from
parameters, input, noise and mask that are formulas of the index, so that the C test can make them too.
bench/peers/scvis_torch.py trains with the same functions."""
import math, os
import numpy as np
import torch
import torch.nn.functional as F

WIDTHS = lambda d, dim: [(d, 128), (128, 64), (64, 32), (32, dim), (32, dim), (dim, 32), (32, 32), (32, 32), (32, 64),
                         (64, 128), (128, d), (128, d)]


def affinities(x, entropy, tolerance=1e-4, tries=51):
    """P of the rows of x, all rows searched at once: beta doubled or halved until bracketed, then bisected."""
    n = len(x)
    d2 = ((x * x).sum(1)[:, None] + (x * x).sum(1)[None] - 2 * x @ x.T).clamp_min(0)
    d2.fill_diagonal_(0)
    other = 1 - torch.eye(n, dtype=x.dtype, device=x.device)
    d2 = d2 - (d2 + 1e30 * (1 - other)).min(1, keepdim=True).values
    beta = torch.ones(n, 1, dtype=x.dtype, device=x.device)
    low, high = torch.zeros_like(beta), torch.full_like(beta, math.inf)
    for attempt in range(tries):
        e = torch.exp(-beta * d2.clamp_min(0)) * other
        s = e.sum(1, keepdim=True)
        over = torch.log(s) + beta * (d2 * e).sum(1, keepdim=True) / s - entropy
        todo = over.abs() > tolerance
        if attempt == tries - 1 or not todo.any():
            break
        up = todo & (over > 0)
        down = todo & (over <= 0)
        low, high = torch.where(up, beta, low), torch.where(down, beta, high)
        middle = torch.where(torch.isinf(high), beta * 2, (low + high) / 2)
        beta = torch.where(todo, middle, beta)
    return e / s


def split(theta, d, dim):
    """[(weight, bias)] of the twelve layers, and the degrees of freedom."""
    layers, at = [], 0
    for i, o in WIDTHS(d, dim):
        layers.append((theta[at:at + i * o].reshape(i, o), theta[at + i * o:at + i * o + o]))
        at += i * o + o
    return layers, theta[at:at + d]


def clip_softplus(a):
    return F.softplus(a).clamp(1e-6, 1e10)


def loss(layers, freedom, x, p, noise, keep, step, l2=0.001, column_weight=True, kl_decay=True, ramp=True):
    n, d = x.shape
    dim = noise.shape[1]
    h = x
    for w, b in layers[:3]:
        h = F.elu(h @ w + b)
    mu = h @ (layers[3][0] * keep) + layers[3][1]
    s2 = clip_softplus(h @ layers[4][0] + layers[4][1])
    z = mu + torch.sqrt(s2) * noise
    h = z
    for w, b in layers[5:10]:
        h = F.elu(h @ w + b)
    mean, variance = h @ layers[10][0] + layers[10][1], clip_softplus(h @ layers[11][0] + layers[11][1])
    student = torch.distributions.StudentT(freedom.clamp(0.1, 10), mean, variance.sqrt())
    weight = p.sum(0).clamp(0.01, 2) if column_weight else torch.ones(n, dtype=x.dtype, device=x.device)
    loglik = (student.log_prob(x).sum(1) * weight).mean()
    kl = 0.5 * (mu ** 2 + s2 - torch.log(s2) - 1).sum(1).mean()
    nu = max(dim - 1, 1)
    s = (1 + ((z[:, None] - z[None]) ** 2).sum(2) / nu) ** (-(nu + 1) / 2)
    smooth = p + 0.1 / n
    smooth = smooth / smooth.sum(1, keepdim=True)
    tsne = (-(smooth * torch.log(s)).sum() + torch.log(s.sum(1) - 1).sum()) / n
    penalty = l2 * sum(0.5 * (w ** 2).sum() for w, _ in layers)
    return ((min(step, d) if ramp else d) * tsne + penalty - loglik + (max(0.1, d / step) if kl_decay else 1) * kl)


def wave(count, a, b):
    i = np.arange(count, dtype=np.float64)
    return torch.tensor(np.sin(a * i + b * i * i).astype(np.float32).astype(np.float64))


def case(name, n, d, dim, step, compat):
    size = sum(i * o + o for i, o in WIDTHS(d, dim)) + d
    theta = 0.2 * wave(size, 1.7, 0.013) + 0.02
    theta[-d:] = 1 + wave(d, 0.9, 0.1)          # one or two of them are outside [0.1, 10]
    theta = theta.float().double().requires_grad_()
    x = wave(n * d, 0.31, 0.007).reshape(n, d)
    noise = (1.3 * wave(n * dim, 2.3, 0.11)).float().double().reshape(n, dim)
    keep = torch.tensor([0.0 if e % 10 == 3 else 1 / 0.9 for e in range(32 * dim)], dtype=torch.float64).reshape(32, dim)
    p = affinities(x, math.log2(10) if compat else math.log(10))
    layers, freedom = split(theta, d, dim)
    value = loss(layers, freedom, x, p, noise, keep if compat else torch.ones_like(keep), step, column_weight=compat,
                 kl_decay=compat, ramp=compat)
    value.backward()
    with open(os.path.join(os.path.dirname(__file__), "../../tests/golden", f"scvis_{name}.bin"), "wb") as f:
        np.array([value.item()]).tofile(f)
        theta.grad[::3].numpy().astype(np.float32).tofile(f)
    print(name, size, value.item(), "largest", theta.grad.abs().max().item())


if __name__ == "__main__":
    case("compat", 48, 8, 2, 3, True)
    case("plain", 37, 9, 3, 20, False)
