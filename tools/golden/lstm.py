#!/usr/bin/env python3
"""A policy of kernels/net/lstm.h by PyTorch's LSTMCell, Embedding and Linear and its autograd, in double precision, for
tests/test_lstm.c.

    lstm.py > tests/golden/lstm.txt

A case is five lines: factors, values, hidden, draws, weight of the entropy; all weights in the order of lstm.h, without
padding; for each draw a uniform number and the value that it chose for each factor, log P and the reward; the slopes of all
weights; the weights after three steps of torch's Adam down these slopes.
"""
import sys

import torch

torch.set_default_dtype(torch.float64)


class Policy(torch.nn.Module):
    def __init__(self, factors, values, hidden):
        super().__init__()
        self.embedding = torch.nn.ModuleList(torch.nn.Embedding(values, hidden) for _ in range(factors - 1))
        self.cell = torch.nn.LSTMCell(hidden, hidden)
        self.head = torch.nn.ModuleList(torch.nn.Linear(hidden, values) for _ in range(factors))

    def weights(self, of):
        """Numbers in the order of lstm.h: of(p) is p or its gradient."""
        with_bias = lambda w, b: torch.cat([of(w), of(b)[:, None]], 1).flatten()
        parts = [of(e.weight).flatten() for e in self.embedding]
        parts += [with_bias(self.cell.weight_ih, self.cell.bias_ih), with_bias(self.cell.weight_hh, self.cell.bias_hh)]
        return torch.cat(parts + [with_bias(h.weight, h.bias) for h in self.head])

    def judge(self, choice):
        """log P of each draw, and the sum of the entropies along it."""
        hidden = self.cell.hidden_size
        h = c = torch.zeros(len(choice), hidden)
        log_p, entropy = 0, 0
        for f, head in enumerate(self.head):
            if f:
                h, c = self.cell(self.embedding[f - 1](choice[:, f - 1]), (h, c))
            log = torch.log_softmax(head(h), 1)
            log_p = log_p + log[torch.arange(len(choice)), choice[:, f]]
            entropy = entropy - (log.exp() * log).sum(1)
        return log_p, entropy

    def draw(self, uniform):
        choice = torch.zeros(uniform.shape, dtype=torch.int64)
        for f in range(len(self.head)):
            h = c = torch.zeros(len(uniform), self.cell.hidden_size)
            for g in range(1, f + 1):
                h, c = self.cell(self.embedding[g - 1](choice[:, g - 1]), (h, c))
            before = torch.softmax(self.head[f](h), 1).cumsum(1)
            choice[:, f] = (before <= uniform[:, f : f + 1]).sum(1)
        return choice


def say(numbers, digits):
    print(*(f"{float(v):.{digits}g}" for v in numbers))


def make_case(factors, values, hidden, draws, weight):
    policy = Policy(factors, values, hidden)
    with torch.no_grad():
        for p in policy.parameters():      # numbers that fp32 has
            p.copy_((1.5 * torch.randn(p.shape)).float().double())
        uniform = torch.randint(0, 1 << 24, (draws, factors)) / (1 << 24)
        choice = policy.draw(uniform)
    reward = torch.randn(draws).float().double()
    print(factors, values, hidden, draws, weight)
    say(policy.weights(lambda p: p.detach()), 9)
    log_p, entropy = policy.judge(choice)
    loss = -(reward * log_p + weight * entropy).mean()
    for p in policy.parameters():
        p.grad = torch.zeros_like(p)
    loss.backward()
    say([n for b in range(draws) for n in (*(x for pair in zip(uniform[b], choice[b]) for x in pair), log_p[b], reward[b])], 12)
    say(policy.weights(lambda p: p.grad), 8)
    adam = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(3):
        adam.step()
    say(policy.weights(lambda p: p.detach()), 8)


torch.manual_seed(4)
print("# torch", torch.__version__, "by", sys.argv[0].split("/")[-1])
make_case(3, 5, 4, 6, 0)
make_case(4, 3, 3, 5, 0.25)
make_case(2, 9, 2, 35, 0.0)
