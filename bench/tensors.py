"""Reads and writes .safetensors files of numbers, for the scripts of this folder. Needs numpy."""
import json
import os

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "u1"}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}


def read(path, *names):
    """an array for each name"""
    with open(path, "rb") as file:
        head, body = json.loads(file.read(int.from_bytes(file.read(8), "little"))), file.read()
    return [np.frombuffer(body[slice(*t["data_offsets"])], TYPES[t["dtype"]]).reshape(t["shape"]) for t in map(head.get, names)]


def packed(**tensors):
    """the bytes of a file"""
    head, end = {}, 0
    for name, x in tensors.items():
        head[name] = {"dtype": NAMES[x.dtype], "shape": x.shape, "data_offsets": [end, end + x.nbytes]}
        end += x.nbytes
    head = json.dumps(head).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(x.tobytes() for x in tensors.values())


def write(path, **tensors):
    """writes the file whole or not at all"""
    with open(path + ".part", "wb") as file:
        file.write(packed(**tensors))
    os.replace(path + ".part", path)
