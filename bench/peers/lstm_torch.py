#!/usr/bin/env python3
"""PyTorch's time for what `spotter bench lstm` does: an update of the examiner's policies (paper 002), in float32.

    lstm_torch.py [threads] [device]        a line a case: op, case, seconds of an update of all its policies

An update draws 32 times 9 of 100 values, with the uniform numbers given, and makes a step of Adam along REINFORCE's gradient.
One policy: Embedding, LSTMCell and Linear. 55 policies: the same side by side, each product one torch.baddbmm, one graph for
all. The median of 9 timings of at least 0.3 s. Needs python3-torch (1.13 was measured).
"""
import statistics
import sys
import time

FACTORS, VALUES, HIDDEN, BATCH = 9, 100, 30, 32


def one_policy(torch, device):
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.ModuleList(torch.nn.Embedding(VALUES, HIDDEN) for _ in range(FACTORS - 1))
            self.cell = torch.nn.LSTMCell(HIDDEN, HIDDEN)
            self.head = torch.nn.ModuleList(torch.nn.Linear(HIDDEN, VALUES) for _ in range(FACTORS))

        def forward(self, uniform):
            h = c = torch.zeros(BATCH, HIDDEN, device=device)
            log_p, choice = 0, None
            for f, head in enumerate(self.head):
                if f:
                    h, c = self.cell(self.embedding[f - 1](choice), (h, c))
                log = torch.log_softmax(head(h), 1)
                with torch.no_grad():
                    choice = (log.exp().cumsum(1) <= uniform[f, :, None]).sum(1).clamp(max=VALUES - 1)
                log_p = log_p + log.gather(1, choice[:, None])[:, 0]
            return log_p

    policy = Policy().to(device)
    return policy, policy.parameters()


def many_policies(torch, device, policies):
    bound = HIDDEN**-0.5
    within = lambda *shape: ((2 * torch.rand(shape, device=device) - 1) * bound).requires_grad_()
    embedding = torch.randn(FACTORS - 1, policies, VALUES, HIDDEN, device=device).requires_grad_()
    wi, wh = within(policies, HIDDEN, 4 * HIDDEN), within(policies, HIDDEN, 4 * HIDDEN)
    bi, bh = within(policies, 1, 4 * HIDDEN), within(policies, 1, 4 * HIDDEN)
    head, bias = within(FACTORS, policies, HIDDEN, VALUES), within(FACTORS, policies, 1, VALUES)

    def forward(uniform):
        h = c = torch.zeros(policies, BATCH, HIDDEN, device=device)
        log_p, choice = 0, None
        for f in range(FACTORS):
            if f:
                x = embedding[f - 1].gather(1, choice[:, :, None].expand(-1, -1, HIDDEN))
                i, keep, add, out = (torch.baddbmm(bi, x, wi) + torch.baddbmm(bh, h, wh)).chunk(4, 2)
                c = keep.sigmoid() * c + i.sigmoid() * add.tanh()
                h = out.sigmoid() * c.tanh()
            log = torch.log_softmax(torch.baddbmm(bias[f], h, head[f]), 2)
            with torch.no_grad():
                choice = (log.exp().cumsum(2) <= uniform[:, f, :, None]).sum(2).clamp(max=VALUES - 1)
            log_p = log_p + log.gather(2, choice[:, :, None])[:, :, 0]
        return log_p

    return forward, [embedding, wi, wh, bi, bh, head, bias]


def measure(torch, device, case, policy, parameters, shape):
    wait = torch.cuda.synchronize if device != "cpu" else lambda: None
    adam = torch.optim.Adam(parameters, lr=1e-3)
    uniform = torch.rand(*shape[:-1], FACTORS, shape[-1], device=device)
    reward = torch.randn(shape, device=device)

    def update():
        adam.zero_grad(set_to_none=True)
        (-(reward * policy(uniform)).sum() / BATCH).backward()
        adam.step()

    update(), update(), wait()
    start = time.perf_counter()
    update(), wait()
    runs = max(1, int(0.3 / (time.perf_counter() - start)))
    seconds = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(runs):
            update()
        wait()
        seconds.append((time.perf_counter() - start) / runs)
    print(f"lstm\t{case}\t{statistics.median(seconds):.6f}")


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    try:
        import torch
    except ImportError:
        sys.exit("lstm_torch.py needs PyTorch: apt install python3-torch")
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    measure(torch, device, "an update, 9 factors of 100 values, batch 32, one policy", *one_policy(torch, device), (BATCH,))
    measure(torch, device, "the same, 55 policies", *many_policies(torch, device, 55), (55, BATCH))


if __name__ == "__main__":
    main()
