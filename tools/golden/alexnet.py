#!/usr/bin/env python3
"""What torchvision's AlexNet makes of weights and images that both sides compute from the hash of resnet18.py.

    alexnet.py [width size batch outputs batches steps] > tests/golden/alexnet.txt

Prints what resnet18.py prints, without dropout, whose numbers are ours alone. torchvision's AlexNet has one width, 64; another
scales all of its layers. Default: width 16, size 64, batch 5, 3 outputs, 2 batches, 4 steps.
"""
import sys

import numpy as np

sys.argv = [sys.argv[0]] + (sys.argv[1:7] or "16 64 5 3 2 4".split())
import torch  # noqa: E402
import torchvision  # noqa: E402

import resnet18  # noqa: E402  (it reads its sizes from the command line)


def narrow(precision):
    w = resnet18.WIDTH
    net = torchvision.models.AlexNet(num_classes=resnet18.OUTPUTS, dropout=0)
    if w != 64:
        conv, linear, nothing = torch.nn.Conv2d, torch.nn.Linear, torch.nn.Identity
        for i, layer in {0: conv(3, w, 11, 4, 2), 3: conv(w, 3 * w, 5, 1, 2), 6: conv(3 * w, 6 * w, 3, 1, 1),
                         8: conv(6 * w, 4 * w, 3, 1, 1), 10: conv(4 * w, 4 * w, 3, 1, 1)}.items():
            net.features[i] = layer
        for i, layer in {1: linear(144 * w, 64 * w), 4: linear(64 * w, 64 * w), 6: linear(64 * w, resnet18.OUTPUTS)}.items():
            net.classifier[i] = layer
    with torch.no_grad():
        for t, (name, value) in enumerate(net.state_dict().items()):
            u = 2 * resnet18.unit(t, value.numel()) - 1
            u = 0.1 * u if value.dim() == 1 else u * np.sqrt(6 / (value.numel() / value.shape[0]))
            value.copy_(torch.from_numpy(u.astype(np.float32)).reshape(value.shape))
    return net.to(precision)


if __name__ == "__main__":
    resnet18.narrow = narrow
    resnet18.KIND = "alexnet"
    resnet18.main()
