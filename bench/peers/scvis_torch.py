"""scvis in PyTorch with P vectorised over rows: seconds an iteration, and what that makes 3,000.

    scvis_torch.py [n] [d] [threads] [iterations] [device] [eager|compiled]
A step is the one of kernels/map/scvis.h, in float32, by tools/golden/scvis.py's functions, with torch's Adam (epsilon 1e-3)
and the same clipping. The whole run is extrapolated from the iterations measured after eight to warm up, as the output says."""
import math, os, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/golden"))


def measure(n, d, threads, iterations, device, kind):
    """Seconds an iteration in all, of the search for P, and of CPU time."""
    import torch
    import scvis

    find, loss = scvis.affinities, scvis.loss
    if kind == "compiled":
        find, loss = torch.compile(find), torch.compile(loss)
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    wait = torch.cuda.synchronize if device != "cpu" else lambda: None
    x = (4 * torch.randn(10, d)[torch.arange(n) % 10] + torch.randn(n, d))
    x = (x / x.abs().max()).to(device)
    layers = []
    for i, o in scvis.WIDTHS(d, 2):
        w = torch.nn.init.trunc_normal_(torch.empty(i, o), 0, math.sqrt(2 / i), -2 * math.sqrt(2 / i), 2 * math.sqrt(2 / i))
        layers.append((w.to(device).requires_grad_(), torch.full((o,), 0.1, device=device, requires_grad=True)))
    freedom = torch.ones(d, device=device, requires_grad=True)
    params = [t for pair in layers for t in pair] + [freedom]
    adam = torch.optim.Adam(params, lr=0.01, eps=1e-3)
    batch = min(512, n)

    def step(t, waits):
        rows = x[torch.randperm(n, device=device)[:batch]]
        t0 = time.perf_counter()
        p = find(rows, math.log2(10))
        if waits:
            wait()
        spent = time.perf_counter() - t0
        keep = (torch.rand(32, 2, device=device) < 0.9) / 0.9
        adam.zero_grad()
        value = loss(layers, freedom, rows, p, torch.randn(batch, 2, device=device), keep, t if kind == "eager" else 100)
        value.backward()
        torch.nn.utils.clip_grad_norm_(params, 10)
        for k, q in enumerate(params):
            q.grad.clamp_(-0.3 if k in (8, 9) else -3, 0.3 if k in (8, 9) else 3)
        adam.step()
        return spent

    for t in range(1, 9):
        step(t, True)
    wait()
    t0, cpu0 = time.perf_counter(), time.process_time()
    for t in range(9, 9 + iterations):
        step(t, False)
    wait()
    each, cpu = (time.perf_counter() - t0) / iterations, (time.process_time() - cpu0) / iterations
    search = sum(step(t, True) for t in range(9 + iterations, 14 + iterations)) / 5
    if not all(torch.isfinite(q).all() for q in params):
        raise SystemExit("scvis_torch: the weights are not finite")
    return each, search, cpu


if __name__ == "__main__":
    words = sys.argv[1:] + ["1600", "512", "2", "20", "cpu", "eager"][len(sys.argv) - 1:]
    n, d, threads, iterations = [int(a) for a in words[:4]]
    os.environ["OMP_NUM_THREADS"] = str(threads)
    each, search, cpu = measure(n, d, threads, iterations, words[4], words[5])
    print(f"torch scvis n={n} d={d} threads={threads} device={words[4]} {words[5]}: {each:.4f} s an iteration over "
          f"{iterations} ({search:.4f} of it P, {cpu:.4f} s of CPU time); 3000 iterations extrapolated: {3000 * each:.0f} s")
