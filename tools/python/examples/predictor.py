"""predictor.py MODEL: a PyTorch classifier that answers Spotter (include/spotter/predictor.h has the protocol).

MODEL is what torch.save wrote: a whole module, or the state dict of a torchvision ResNet-18. Embeddings are the input of the
last linear layer; channels are those behind each ReLU. For another network change the four lines that say so.
"""
import io
import sys
import types

import numpy as np
import torch
import torchvision

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.load(sys.argv[1], map_location=device)                                # your network
if isinstance(model, dict):
    weights, model = model, torchvision.models.resnet18(num_classes=len(model["fc.bias"]))
    model.load_state_dict(weights)
model = model.eval().to(device)
mean, std = (torch.tensor(v, device=device)[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))  # its input
seen = {"embedding": torch.zeros(1, 0), "channels": []}


def keep_embedding(module, given, out):
    seen["embedding"] = given[0]


def keep_channels(module, given, out):
    x = out.flatten(2)
    least, most = x.amin((1, 2))[:, None], x.amax((1, 2))[:, None]
    seen["channels"].append(torch.where(most > least, (x.mean(2) - least) / (most - least), least * 0))


[m for m in model.modules() if isinstance(m, torch.nn.Linear)][-1].register_forward_hook(keep_embedding)     # its last layer
for m in model.modules():
    if isinstance(m, torch.nn.ReLU):                                                                         # its channels
        m.register_forward_hook(keep_channels)

pipe = types.SimpleNamespace(read=sys.stdin.buffer.read)         # numpy would seek in sys.stdin.buffer, and a pipe cannot
while sys.stdin.buffer.peek(1):                                  # empty: the end
    rgb = torch.from_numpy(np.lib.format.read_array(pipe)).to(device)
    with torch.no_grad():
        logits = model((rgb.permute(0, 3, 1, 2) / 255 - mean) / std)
    for array in (logits, seen["embedding"], torch.cat(seen["channels"], 1)):
        file = io.BytesIO()
        np.save(file, array.float().cpu().numpy())
        sys.stdout.buffer.write(file.getvalue())
    sys.stdout.buffer.flush()
    seen["channels"].clear()
