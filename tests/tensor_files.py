"""Reads and writes .safetensors files by plain Python: what the tests compare files with needs no package."""
import array
import json

KINDS = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B"}


def read(path):
    """{name: (shape, numbers)}"""
    with open(path, "rb") as file:
        head, body = json.loads(file.read(int.from_bytes(file.read(8), "little"))), file.read()
    head.pop("__metadata__", None)
    return {name: (t["shape"], array.array(KINDS[t["dtype"]], body[slice(*t["data_offsets"])])) for name, t in head.items()}


def write(path, tensors):
    """tensors: {name: (type as the format calls it, shape, bytes)}"""
    head, end = {}, 0
    for name, (kind, shape, raw) in tensors.items():
        head[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [end, end + len(raw)]}
        end += len(raw)
    head = json.dumps(head).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head + b"".join(raw for _, _, raw in tensors.values()))
