"""protocol.py MODEL: a PyTorch classifier that answers Spotter; include/spotter/predictor.h has the protocol.

MODEL is what torch.save wrote: a whole module, or the state dict of a torchvision ResNet-18, ResNet-34 or AlexNet. serve()
needs nothing but NumPy; what follows it is for PyTorch: embeddings are the input of the last linear layer, channels
those behind each ReLU.
"""
import io
import sys
import types

import numpy as np


def serve(predict):
    """predict: uint8 (n, side, side, 3) -> logits (n, outputs), embeddings (n, dim), channels (n, channels); dim and channels
    may be 0."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr                # or a print() would fall between the arrays
    pipe = types.SimpleNamespace(read=sys.stdin.buffer.read)       # numpy would seek in sys.stdin.buffer; a pipe cannot
    while sys.stdin.buffer.peek(1):                                # empty: the end
        for array in predict(np.lib.format.read_array(pipe)):
            file = io.BytesIO()
            np.save(file, np.ascontiguousarray(array, np.float32))
            out.write(file.getvalue())
        out.flush()


if __name__ == "__main__":
    import torch
    import torchvision

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.load(sys.argv[1], map_location=device, weights_only=False)
    if isinstance(model, dict):
        kind = "alexnet" if "classifier.6.bias" in model else "resnet34" if "layer1.2.conv1.weight" in model else "resnet18"
        classes = len(model["classifier.6.bias" if kind == "alexnet" else "fc.bias"])
        weights, model = model, torchvision.models.get_model(kind, num_classes=classes)
        model.load_state_dict(weights)
    model = model.eval().to(device)
    mean, std = (torch.tensor(v, device=device)[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    seen = {}

    def keep_channels(module, given, out):
        x = out.reshape(*out.shape[:2], -1)
        least, most = x.amin((1, 2))[:, None], x.amax((1, 2))[:, None]
        seen["channels"].append(torch.where(most > least, (x.mean(2) - least) / (most - least), least * 0))

    def predict(rgb):
        seen["channels"] = []
        with torch.no_grad():
            logits = model((torch.from_numpy(rgb).to(device).permute(0, 3, 1, 2) / 255 - mean) / std)
        return [a.cpu() for a in (logits, seen["embedding"], torch.cat(seen["channels"], 1))]

    last = [m for m in model.modules() if isinstance(m, torch.nn.Linear)][-1]
    last.register_forward_hook(lambda module, given, out: seen.update(embedding=given[0]))
    for m in model.modules():
        if isinstance(m, torch.nn.ReLU):
            m.register_forward_hook(keep_channels)
    serve(predict)
