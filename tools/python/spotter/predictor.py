"""python3 -m spotter.predictor MODEL: a classifier in a file that answers Spotter (include/spotter/predictor.h: protocol).

MODEL is net.onnx, net.pt2 (torch.export), net.ts (TorchScript), timm:NAME or torchvision:NAME with --weights FILE. `spotter ...
--model net.onnx` runs this program as its child. Embeddings are the input of the last linear layer; there are no channels. A
.pt2 or .ts file is a program: open none of a stranger's. Weights are read as tensors alone, never as pickles that run code.
"""
import argparse
import os
import sys

if __package__:
    from ._networks import Failed, note, one_line, open_network
else:                                                  # run by its path: the folder of this file must not hide other packages
    from _networks import Failed, note, one_line, open_network     # type: ignore[no-redef]
    sys.path[:] = [p for p in sys.path if p and os.path.abspath(p) != os.path.dirname(os.path.abspath(__file__))]

import numpy as np

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


# ---- the protocol ----

def read_batch(source):
    """uint8 (n, side, side, 3), or None at the end. numpy.load would seek, which a pipe cannot."""
    if not source.peek(1):
        return None
    if np.lib.format.read_magic(source) != (1, 0):
        raise Failed("the pictures are of another version of .npy than 1.0")
    shape, _, dtype = np.lib.format.read_array_header_1_0(source)
    batch = np.empty(shape, dtype)
    room, done = memoryview(batch).cast("B"), 0
    while done < len(room):
        n = source.readinto(room[done:])
        if not n:
            raise Failed("the pictures end within a batch")
        done += n
    return batch


def write_array(out, array):
    array = np.ascontiguousarray(array, np.float32)
    np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": array.shape})
    out.write(memoryview(array).cast("B") if array.size else b"")


# ---- the network ----

class Looker:
    """A network with what becomes of pixels before it, and of its outputs behind it."""

    def __init__(self, o):
        self.o, self.net = o, open_network(o.model, o.weights, o.device, o.threads)
        self.side = o.size or self.net.side
        self.as_log, self.sizes = None, None
        mean, std = tuple(o.mean or self.net.mean or MEAN), tuple(o.std or self.net.std or DEVIATION)
        if self.net.raw and (o.mean or o.std or o.scale):
            raise Failed(f"{o.model} takes pixels as bytes, from 0 to 255; --mean, --std and --scale do not apply to it")
        scale = o.scale or 255
        self.mean, self.std = (tuple(v * scale / 255 for v in three) for three in (mean, std))   # networks divide by 255
        self.said = "pixels from 0 to 255 as they are" if self.net.raw else (
            f"pixels / {scale:g}, less {_list(mean)}, by {_list(std)}")

    def resized(self, rgb):
        if self.o.size and rgb.shape[1] != self.o.size:
            from PIL import Image
            by = Image.BICUBIC if self.o.interpolation == "bicubic" else Image.BILINEAR
            some = [Image.fromarray(x).resize((self.o.size, self.o.size), by) for x in rgb]
            return np.stack([np.asarray(x) for x in some])
        if self.side and rgb.shape[1] != self.side:
            raise Failed(f"{self.o.model} takes pictures of {self.side} pixels a side and got {rgb.shape[1]}; give the command "
                         f"--size {self.side} (or --crop {self.side})")
        return rgb

    def ask(self, rgb):
        """A batch of the network's own size: where that is fixed, the last picture fills it up."""
        step, parts = self.net.batch or len(rgb), []
        for at in range(0, len(rgb), step):
            part = rgb[at:at + step]
            full = part if len(part) == step else np.concatenate([part, np.repeat(part[-1:], step - len(part), 0)])
            logits, inner = self.net.ask(full, self.mean, self.std)
            parts.append((logits[:len(part)], None if inner is None else inner[:len(part)]))
        return tuple(None if p[0] is None else np.concatenate(p) if len(p) > 1 else p[0] for p in zip(*parts))

    def __call__(self, rgb):
        try:
            logits, inner = self.ask(self.resized(rgb))
        except Failed:
            raise
        except Exception as e:
            raise Failed(f"{self.o.model} cannot look at {len(rgb)} pictures of {rgb.shape[1]} pixels a side: {one_line(e)}") \
                from None
        n = len(rgb)
        logits = np.asarray(logits, np.float32)
        logits = logits.reshape(n, -1) if logits.ndim != 2 and logits.size == n * logits.shape[-1] else logits
        if logits.ndim != 2 or len(logits) != n:
            raise Failed(f"{self.o.model} answers {n} pictures with shape {logits.shape}; it must be logits (n, classes)")
        inner = np.zeros((n, 0), np.float32) if inner is None else np.asarray(inner, np.float32).reshape(n, -1)
        if self.as_log is None:
            self.begin(logits, inner)
        return np.log(np.maximum(logits, 1e-30)) if self.as_log else logits, inner, np.zeros((n, 0), np.float32)

    def begin(self, logits, inner):
        """Probabilities are told by the first answer: Spotter takes a softmax of what it gets."""
        self.as_log = logits.shape[1] > 1 and bool((logits >= 0).all() and (np.abs(logits.sum(1) - 1) < 1e-3).all())
        note(f"{self.o.model}: {logits.shape[1]} outputs, {inner.shape[1] or 'no'} numbers of embedding, by {self.net.by}; "
             f"{self.said}" + ("; its outputs are probabilities, of which the logarithm counts" if self.as_log else ""))


def _list(values):
    return ",".join(f"{v:g}" for v in values)


# ---- the program ----

def three(text):
    """"0.485,0.456,0.406", or one number for all channels."""
    try:
        values = [float(v) for v in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (1, 3) or not all(abs(v) <= 1e6 for v in values):
        raise argparse.ArgumentTypeError(f"'{text}' is not one number, or three with commas between them, of red, green, blue")
    return tuple(values * (3 // len(values)))


def three_above(text):
    values = three(text)
    if min(values) < 1e-6:
        raise argparse.ArgumentTypeError(f"'{text}': pixels are divided by it, so that each number is above 0")
    return values


def above(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1e-6 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0")
    return value


def options(words):
    p = argparse.ArgumentParser(prog="python3 -m spotter.predictor", description=__doc__.split("\n\n")[1])
    p.add_argument("model", metavar="MODEL", help="net.onnx, net.pt2, net.ts, timm:NAME or torchvision:NAME")
    p.add_argument("--weights", metavar="FILE", help="state dict of timm:NAME or torchvision:NAME: .safetensors, .pt")
    p.add_argument("--mean", type=three, metavar="R,G,B", help="taken from pixels / scale (the network's own, else ImageNet's)")
    p.add_argument("--std", type=three_above, metavar="R,G,B", help="by which they are divided then")
    p.add_argument("--scale", type=above, metavar="X", help="by which pixels, 0 to 255, are divided first (255)")
    p.add_argument("--size", type=int, metavar="PIXELS", help="pixels a side to which pictures of another size are brought")
    p.add_argument("--interpolation", choices=("bilinear", "bicubic"), default="bilinear", help="how --size resizes")
    p.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    p.add_argument("--threads", type=int, default=0, metavar="N", help="CPU threads; 0: the library's own choice")
    return p.parse_args(words)


def main(words=None):
    o = options(words)
    out, sys.stdout = sys.stdout.buffer, sys.stderr    # or a print() of a library would fall between the arrays
    try:
        look = Looker(o)
        while True:
            rgb = read_batch(sys.stdin.buffer)
            if rgb is None:
                return 0
            for array in look(rgb):
                write_array(out, array)
            out.flush()
    except Failed as e:
        note(f"spotter.predictor: {e}")
        return 3


if __name__ == "__main__":
    sys.exit(main())
