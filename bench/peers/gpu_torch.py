#!/usr/bin/env python3
"""What others take on this machine's GPU for the work of `spotter bench --device cuda`: one JSON object a line.

    gpu_torch.py [train] [infer] [ceiling] [scvis] [tsne] [mixture] [--device cuda] [--small]

    ceiling  a 4 GiB copy and an 8192 bf16 matrix product in PyTorch
    train    ResNet-18, a step on a batch that lies on the GPU: autocast to bf16, channels last, fused Adam; eager and compiled
    infer    the same net, weights in bf16, in eval mode; eager and compiled
    scvis    bench/peers/scvis_torch.py on the GPU, one problem after another
    tsne     cuML or tsne-cuda if they are installed, else scikit-learn on every core of the CPU
    mixture  scikit-learn on two cores

What is not installed says so ("error"). seconds is of one item: an image, an iteration, a map, a fit. --small takes tiny
sizes: whether this script works, not how fast anything is.
"""
import argparse
import json
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def say(op, case, **rest):
    print(json.dumps({"op": op, "case": case, **rest}), flush=True)


def waiter(device):
    import torch

    return torch.cuda.synchronize if device != "cpu" else lambda: None


def median(run, wait, between=0.05, times=9):
    """Seconds of a run: the median of `times` batches of runs, each long enough that waiting for its end does not count."""
    run(), run(), wait()
    start = time.perf_counter()
    run(), wait()
    each = max(1, int(between / (time.perf_counter() - start)))
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        for _ in range(each):
            run()
        wait()
        seconds.append((time.perf_counter() - start) / each)
    return statistics.median(seconds)


def ceiling(o):
    import torch

    wait = waiter(o.device)
    n = (1 << 18) if o.small else (1 << 30)
    a = torch.randn(n, device=o.device)
    b = torch.empty_like(a)
    seconds = median(lambda: b.copy_(a), wait)
    say("ceiling", "copy, 4 GiB", peer="PyTorch " + torch.__version__, seconds=seconds, gbs=8 * n / seconds / 1e9)
    del a, b
    n = 64 if o.small else 8192
    a, b = (torch.randn(n, n, device=o.device).bfloat16() for _ in range(2))
    seconds = median(lambda: a @ b, wait)
    say("ceiling", "matrix product, 8192, bf16", peer="PyTorch " + torch.__version__, seconds=seconds,
        tflops=2 * n ** 3 / seconds / 1e12)


def variants(o, torch, size):
    """How a function may be compiled, by name."""
    ways = {"eager": lambda f: f}
    if hasattr(torch, "compile") and not o.eager:
        ways["torch.compile"] = torch.compile
        if size < 128:      # where launches cost as much as work
            ways["torch.compile, CUDA graphs"] = lambda f: torch.compile(f, mode="reduce-overhead")
    return ways


def fastest(o, op, case, size, batch, make):
    """make(way of compiling) -> a function that runs once. The fastest way counts; the others are told. cuDNN may time its
    algorithms, as ours are timed."""
    import torch

    torch.backends.cudnn.benchmark = True
    wait, found, failed = waiter(o.device), {}, {}
    for name, compiled in variants(o, torch, size).items():
        try:
            if hasattr(torch, "_dynamo"):
                torch._dynamo.reset()
            found[name] = median(make(compiled), wait, 0 if o.small else 0.2, 2 if o.small else 9) / batch
        except Exception as why:       # a machine without a C compiler cannot compile; eager still counts
            failed[name] = f"{type(why).__name__}: {why}".splitlines()[0][:200]
    if not found:
        say(op, case, error="; ".join(failed.values()))
        return
    best = min(found, key=found.get)
    cudnn = f" with cuDNN {torch.backends.cudnn.version()}" if o.device != "cpu" else ""
    say(op, case, peer=f"PyTorch {torch.__version__}{cudnn}, {best}", seconds=found[best], all=found, failed=failed)


def cases(o):
    """Name, side and batch."""
    return [(f"{size} px, batch 256, bf16", 64 if o.small else size, 4 if o.small else 256) for size in (224, 64)]


def resnet(o, size, batch):
    import torch
    from torchvision.models import resnet18

    torch.manual_seed(0)
    net = resnet18(num_classes=1).to(o.device).to(memory_format=torch.channels_last)
    x = torch.randn(batch, 3, size, size, device=o.device).to(memory_format=torch.channels_last)
    return net, x


def train(o):
    import torch

    for name, size, batch in cases(o):
        def make(compiled):
            net, x = resnet(o, size, batch)
            y = (torch.arange(batch, device=o.device) % 2).float()[:, None]
            fused = {"fused": True} if o.device != "cpu" else {}
            rule = torch.optim.Adam(net.parameters(), 1e-4, **fused)
            x = x.bfloat16()

            def loss():
                with torch.autocast(o.device.split(":")[0], dtype=torch.bfloat16):
                    z = net(x)
                return torch.nn.functional.binary_cross_entropy_with_logits(z.float(), y)

            loss = compiled(loss)

            def step():
                rule.zero_grad(set_to_none=True)
                loss().backward()
                rule.step()

            return step

        fastest(o, "train", name, size, batch, make)


def infer(o):
    import torch

    for name, size, batch in cases(o):
        def make(compiled):
            net, x = resnet(o, size, batch)
            net, x = net.bfloat16().eval(), x.bfloat16()
            net = compiled(net)

            def look():
                with torch.inference_mode():
                    net(x)

            return look

        fastest(o, "infer", name, size, batch, make)


def scvis(o):
    import torch

    import scvis_torch

    n, d, iterations = (64, 16, 3) if o.small else (3200, 512, 200)
    each, search, _ = scvis_torch.measure(n, d, os.cpu_count(), iterations, o.device)
    say("scvis", f"{n}x{d}, batch 512", peer=f"PyTorch {torch.__version__}, one problem after another", seconds=each,
        search=search, iterations=iterations)


def tsne(o):
    import numpy as np

    n, d = (64, 16) if o.small else (3200, 512)
    rng = np.random.default_rng(1)
    x = (4 * rng.standard_normal((10, d))[np.arange(n) % 10] + rng.standard_normal((n, d))).astype(np.float32)
    try:
        from cuml.manifold import TSNE
        from cuml import __version__ as version
        name, model = "cuML " + version, lambda: TSNE(n_components=2, perplexity=30, n_iter=1000)
    except ImportError:
        try:
            from tsnecuda import TSNE
            name, model = "tsne-cuda", lambda: TSNE(n_components=2, perplexity=30, n_iter=1000)
        except ImportError:
            from sklearn import __version__ as version
            from sklearn.manifold import TSNE
            name = f"scikit-learn {version}, Barnes-Hut, {os.cpu_count()} cores (neither cuML nor tsne-cuda is installed)"
            model = lambda: TSNE(init="pca", learning_rate="auto", perplexity=30 if n > 90 else 5, n_jobs=-1, random_state=0)
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        y = model().fit_transform(x)
        seconds.append(time.perf_counter() - start)
    if not np.isfinite(np.asarray(y)).all():
        raise ValueError("a map that is not finite")
    say("tsne", f"{n}x{d}, 1000 iterations", peer=name, seconds=min(seconds))


def mixture(o):
    from sklearn import __version__ as version

    import mixture_sklearn

    n, most, problems = (96, 2, 1) if o.small else (3200, 32, 3)
    took = [mixture_sklearn.fit(mixture_sklearn.points(n, p), most, 2)[0] for p in range(problems)]
    say("mixture", f"K = 1..{most} on {n} x 3, BIC", peer=f"scikit-learn {version}, 2 cores",
        seconds=statistics.median(took) / most, problems=problems)


def main():
    work = {"ceiling": ceiling, "train": train, "infer": infer, "scvis": scvis, "tsne": tsne, "mixture": mixture}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("op", nargs="*", default=[])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--eager", action="store_true")
    o = parser.parse_args()
    if set(o.op) - set(work):
        parser.error("there are " + ", ".join(work))
    for op in o.op or work:
        try:
            work[op](o)
        except Exception as why:
            say(op, "", error=f"{type(why).__name__}: {why}".splitlines()[0][:300])


if __name__ == "__main__":
    main()
