"""imagenet_star.py MASKS.npy [OUT.npz]: the masks that the authors of dataset interfaces (paper 004) released, read without
running their pickle, and tests/golden/imagenet_star.txt: their counts.

MASKS.npy is masks.npy of github.com/MadryLab/dataset-interfaces: a pickled dictionary of 24 uint8 arrays, 50,000 pictures each,
class after class, 50 a class. The opcodes of the pickle are listed, not executed; a name is the last text before an array. A
line of the golden: folder, kept pictures, classes with at least five of them, classes with none. OUT.npz takes the arrays in
the form that `filter: {masks: OUT.npz}` of `spotter shifts` reads."""
import os
import pickletools
import sys
import zipfile
import struct

CLASSES, EACH = 1000, 50


def masks(path):
    data = open(path, "rb").read()
    assert data[:6] == b"\x93NUMPY" and b"'descr': '|O'" in data[:200], "no array of objects"
    start = 10 + struct.unpack("<H", data[8:10])[0]
    found, text = {}, None
    for op, arg, _ in pickletools.genops(data[start:]):
        if op.name in ("BINUNICODE", "SHORT_BINUNICODE") and len(arg) > 2:
            text = arg
        if op.name in ("BINBYTES", "SHORT_BINBYTES") and len(arg) == CLASSES * EACH:
            assert text not in found and set(arg) <= {0, 1}, text
            found[text] = arg
    return found


def npy(values):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def main():
    found = masks(sys.argv[1])
    assert len(found) == 24, len(found)
    with open(os.path.join(os.path.dirname(__file__), "../../tests/golden/imagenet_star.txt"), "w") as f:
        for name, mask in found.items():
            kept = [sum(mask[k * EACH:(k + 1) * EACH]) for k in range(CLASSES)]
            f.write(f"{name} {sum(kept)} {sum(n >= 5 for n in kept)} {sum(n == 0 for n in kept)}\n")
    if len(sys.argv) > 2:
        with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as z:
            for name, mask in found.items():
                z.writestr(name + ".npy", npy(mask))


if __name__ == "__main__":
    main()
