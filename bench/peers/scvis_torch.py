"""scvis in PyTorch with P vectorised over rows: seconds an iteration, and what that makes 3,000.

    scvis_torch.py [n] [d] [threads] [iterations]
A step is what kernels/scvis.h describes, in float32, by tools/golden/scvis.py's functions, with torch's Adam (epsilon 1e-3) and
the same clipping. The whole run is extrapolated from the iterations measured, after three to warm up; said so in the output."""
import math, os, sys, time

n, d, threads, iterations = [int(a) for a in sys.argv[1:] + ["1600", "512", "2", "20"][len(sys.argv) - 1:]]
os.environ["OMP_NUM_THREADS"] = str(threads)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/golden"))

import torch
import scvis

torch.set_num_threads(threads)
torch.manual_seed(1)
x = (4 * torch.randn(10, d)[torch.arange(n) % 10] + torch.randn(n, d))
x /= x.abs().max()
layers = []
for i, o in scvis.WIDTHS(d, 2):
    w = torch.nn.init.trunc_normal_(torch.empty(i, o), 0, math.sqrt(2 / i), -2 * math.sqrt(2 / i), 2 * math.sqrt(2 / i))
    layers.append((w.requires_grad_(), torch.full((o,), 0.1, requires_grad=True)))
freedom = torch.ones(d, requires_grad=True)
params = [t for pair in layers for t in pair] + [freedom]
adam = torch.optim.Adam(params, lr=0.01, eps=1e-3)
batch = min(512, n)


def step(t):
    rows = x[torch.randperm(n)[:batch]]
    t0 = time.perf_counter()
    p = scvis.affinities(rows, math.log2(10))
    spent = time.perf_counter() - t0
    keep = (torch.rand(32, 2) < 0.9) / 0.9
    adam.zero_grad()
    value = scvis.loss(layers, freedom, rows, p, torch.randn(batch, 2), keep, t)
    value.backward()
    torch.nn.utils.clip_grad_norm_(params, 10)
    for k, q in enumerate(params):
        q.grad.clamp_(-0.3 if k in (8, 9) else -3, 0.3 if k in (8, 9) else 3)
    adam.step()
    return spent


for t in range(1, 4):
    step(t)
t0, cpu0 = time.perf_counter(), time.process_time()
spent = sum(step(t) for t in range(4, 4 + iterations))
each, cpu = (time.perf_counter() - t0) / iterations, (time.process_time() - cpu0) / iterations
print(f"torch scvis n={n} d={d} threads={threads}: {each:.4f} s an iteration over {iterations} "
      f"({spent / iterations:.4f} of it P, {cpu:.4f} s of CPU time); 3000 iterations extrapolated: {3000 * each:.0f} s")
