#!/usr/bin/env python3
"""Writes the hostile corpus tests/fuzz/corpus_safetensors/ (and two good files) byte by byte.

    safetensors.py FOLDER
"""
import os
import struct
import sys


def entry(at, end, shape="[2]", dtype="F32"):
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{at},{end}]}}'


def two(a, b):
    return f'{{"a":{a},"b":{b}}}'


CASES = {   # header, bytes of data
    "good_two": (two(entry(0, 8), entry(8, 16)), 16),
    "good_scalar_meta_empty": ('{"__metadata__":{"by":"hand"},"n":%s,"e":%s}'
                               % (entry(0, 8, "[]", "I64"), entry(8, 8, "[0]")), 8),
    "gap": (two(entry(0, 8), entry(12, 20)), 20),
    "overlap": (two(entry(0, 8), entry(4, 12)), 12),
    "same_place": (two(entry(0, 8), entry(0, 8)), 8),
    "twice": ('{"a":%s,"a":%s}' % (entry(0, 8), entry(8, 16)), 16),
    "rest": (two(entry(0, 8), entry(8, 16)), 20),
    "short_data": (two(entry(0, 8), entry(8, 16)), 12),
    "shape_lies": ('{"a":%s}' % entry(0, 8, "[3]"), 8),
    "shape_negative": ('{"a":%s}' % entry(0, 8, "[-2]"), 8),
    "shape_overflow": ('{"a":%s}' % entry(0, 8, "[4611686018427387904,2,2]"), 8),
    "shape_real": ('{"a":%s}' % entry(0, 8, "[2.0]"), 8),
    "shape_deep": ('{"a":%s}' % entry(0, 8, "[1,1,1,1,1,1,1,1,2]"), 8),
    "shape_missing": ('{"a":{"dtype":"F32","data_offsets":[0,8],"shapes":[2]}}', 8),
    "offsets_backward": ('{"a":%s}' % entry(8, 0), 8),
    "offsets_negative": ('{"a":%s}' % entry(-8, 0), 8),
    "offsets_huge": ('{"a":%s}' % entry(0, 2**63 - 1), 8),
    "good_half": (two(entry(0, 4, "[2]", "F16"), entry(4, 7, "[3]", "BOOL")), 7),
    "sub_byte": ('{"a":%s}' % entry(0, 1, "[2]", "F4"), 1),
    "float8": ('{"a":%s}' % entry(0, 2, "[2]", "F8_E4M3"), 2),
    "no_dtype": ('{"a":{"shape":[2],"data_offsets":[0,8],"x":1}}', 8),
    "dtype_number": ('{"a":{"dtype":4,"shape":[2],"data_offsets":[0,8]}}', 8),
    "name_breaks": ('{"a\\n\\u001b[2J":[1,2]}', 0),
    "not_a_map": ('{"a":[1,2]}', 0),
    "broken_json": ('{"a":{"dtype":"F32"', 0),
    "list": ("[1]", 0),
    "deep": ('{"a":' + "[" * 400 + "]" * 400 + "}", 0),
    "nul": ('{"a\0":1}', 0),
}
RAW = {
    "empty": b"",
    "seven": b"\7\0\0\0\0\0\0",
    "header_huge": struct.pack("<Q", 100_000_001) + b"{}",
    "header_max": b"\xff" * 8 + b"{}",
    "header_cut": struct.pack("<Q", 100) + b'{"a":',
    "header_none": struct.pack("<Q", 0),
}

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for name, (header, data) in CASES.items():
    RAW[name] = struct.pack("<Q", len(header)) + header.encode() + bytes(i % 61 for i in range(data))
for name, content in RAW.items():
    with open(os.path.join(folder, name), "wb") as f:
        f.write(content)
