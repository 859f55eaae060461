#!/usr/bin/env python3
"""Writes what test_array.c and the fuzz targets read: files of arrays made by numpy and zipfile, files that no honest
program makes, and what numpy sees in the good ones.

    arrays.py TESTS     (the folder tests: fuzz/corpus_npy, corpus_npz, corpus_csv and golden/arrays.txt are written there)

    pip install numpy pandas

A line of arrays.txt, between tabs: where, type, dimensions joined by x, the values: numbers as C reads them, words as
hexadecimal UTF-8.
"""
import csv
import io
import os
import random
import struct
import sys
import zipfile
import zlib
from fractions import Fraction

import numpy as np
import pandas as pd

TYPES = {"f4": "F32", "f8": "F64", "f2": "F16", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8", "u1": "U8", "u2": "U16",
         "u4": "U32", "u8": "I64", "b1": "BOOL"}
tests = sys.argv[1]
rng = np.random.default_rng(5)
lines = []


def put(folder, name, content):
    path = os.path.join(tests, "fuzz", "corpus_" + folder)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "wb") as f:
        f.write(content)


def expect(where, a, kind=None):
    a = np.asarray(a)
    if a.dtype.kind in "US":
        kind, values = "words", ["x" + (w if isinstance(w, bytes) else w.encode()).hex() for w in a.ravel()]
    else:
        kind = kind or TYPES[a.dtype.str[1:]]
        values = [str(int(v)) if a.dtype.kind in "iub" else repr(float(v)) for v in a.ravel()]
    lines.append("\t".join([where, kind, "x".join(map(str, a.shape)) or "-", *values]))


def npy(a, version=None):
    f = io.BytesIO()
    np.lib.format.write_array(f, np.asarray(a), version=version, allow_pickle=True)
    return f.getvalue()


def raw(header, data=b"", version=1):
    """A .npy whose header is these words."""
    h = header.encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(h)) + h + data


def good_npy(name, content, a, kind=None):
    put("npy", name + ".npy", content)
    expect("fuzz/corpus_npy/" + name + ".npy", a, kind)


for code in TYPES:
    a = (rng.random((3, 4)) * 100 - (50 if code[0] in "fi" else 0)).astype(code)
    good_npy(code, npy(a), a)
half = np.array([0, 1, 1023, 1024, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x8001, 0x3555], "<u2").view("<f2")
good_npy("half", npy(half), half)
words = np.array([["cat", "d\u00f6g", ""], ["\u65e5\u672c", "\U0001d11e clef", "a,b\n\"c\""]])
good_npy("words", npy(words), words)
good_npy("bytes", npy(np.array([b"cat", b"", b"tiger"])), np.array([b"cat", b"", b"tiger"]))
good_npy("scalar", npy(np.float32(3.5)), np.float32(3.5))
good_npy("nothing", npy(np.zeros((0, 3))), np.zeros((0, 3)))
good_npy("version2", npy(np.arange(3), (2, 0)), np.arange(3))
good_npy("version3", npy(np.arange(3), (3, 0)), np.arange(3))
good_npy("column", npy(np.asfortranarray(np.arange(4.0).reshape(4, 1))), np.arange(4.0).reshape(4, 1))
good_npy("python2", raw("{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 1L), }", b"\1\0\2\0"),
         np.array([[1], [2]], "i2"))
good_npy("order", raw('{"shape":(2,),"fortran_order":True,"descr":"|u1"}', b"\7\x08"), np.array([7, 8], "u1"))
# Orders of values other than those of C and of this machine.
good_npy("big_endian", npy(np.arange(3, dtype=">i4")), np.arange(3, dtype="i4"))
good_npy("fortran", npy(np.asfortranarray(np.arange(6.0).reshape(2, 3))), np.arange(6.0).reshape(2, 3))
deep = np.arange(2 * 3 * 4 * 5, dtype="i2").reshape(2, 3, 4, 5)
good_npy("fortran_deep", npy(np.asfortranarray(deep)), deep)
long = (np.arange(200 * 7) % 251).astype("u1").reshape(200, 7)
good_npy("fortran_long", npy(np.asfortranarray(long)), long)
turned = np.array([[1.5, -2, 3e300], [0, np.inf, -1e-300]])
good_npy("fortran_big", npy(np.asfortranarray(turned).astype(">f8")), turned)
good_npy("big_half", npy(half.astype(">f2")), half)
good_npy("big_u8", npy(np.array([1, 2**62], ">u8")), np.array([1, 2**62], "u8"))
good_npy("big_words", npy(words.astype(words.dtype.newbyteorder(">"))), words)
good_npy("fortran_words", npy(np.asfortranarray(words)), words)
good_npy("fortran_bytes", npy(np.asfortranarray([[b"a", b"bcd"], [b"", b"x"]])), np.array([[b"a", b"bcd"], [b"", b"x"]]))

F = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
one = npy(np.arange(6, dtype="f4").reshape(2, 3))
BAD_NPY = {
    "empty": b"", "magic": b"\x93NUMPX" + one[6:], "version9": one[:6] + b"\x09" + one[7:], "short_start": one[:9],
    "short_header": one[:60], "short_data": one[:-1], "rest": one + b"\0",
    "object": npy(np.array([1, "a", None], dtype=object)),
    "fields": npy(np.zeros(2, [("a", "f4"), ("b", "i4")])), "complex": npy(np.zeros(2, "c8")),
    "date": npy(np.zeros(2, "M8[s]")), "bfloat": raw("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", b"\0\0"),
    "truth": raw("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", b"\0\1\2"),
    "u8_large": npy(np.array([1, 2**63], "u8")),
    "shape_huge": raw("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"),
    "shape_overflow": raw("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
    "shape_negative": raw("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }"),
    "shape_deep": raw("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", b"\0" * 4),
    "shape_number": raw("{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", b"\0" * 8),
    "key_twice": raw("{'descr': '<f4', 'shape': (1,), 'descr': '<f4', 'fortran_order': False}", b"\0" * 4),
    "key_missing": raw("{'descr': '<f4', 'shape': (1,)}", b"\0" * 4),
    "key_other": raw("{'descr': '<f4', 'shape': (1,), 'fortran_order': False, 'x': 1}", b"\0" * 4),
    "order_maybe": raw("{'descr': '<f4', 'shape': (1,), 'fortran_order': Maybe}", b"\0" * 4),
    "code": raw("{'descr': __import__('os').abort(), 'shape': (1,), 'fortran_order': False}", b"\0" * 4),
    "tail": raw(F + " 1", b"\0" * 8), "open": raw("{'descr': '<f4", b"\0" * 8), "type_none": raw(F.replace("<f4", ""), b""),
    "surrogate": raw("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", b"a\0\0\0\0\xd8\0\0"),
    "latin": npy(np.array(["cat".encode(), "d\u00f6g".encode("latin1")])),
    "nul_inside": npy(np.array([b"a", b"a\0b"])),
}
for name, content in BAD_NPY.items():
    put("npy", name + ".npy", content)


def archive(members, packed=zipfile.ZIP_STORED, streamed=False, wide=False):
    f = io.BytesIO()

    class Pipe:                                    # zipfile writes data descriptors where it cannot seek
        def write(self, piece):
            return f.write(piece)

        def flush(self):
            pass

    with zipfile.ZipFile(Pipe() if streamed else f, "w", packed) as z:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = packed
            with z.open(info, "w", force_zip64=wide) as m:
                m.write(content)
    return f.getvalue()


def good_npz(name, content, arrays, alone=False):
    put("npz", name + ".npz", content)
    for key, a in arrays.items():
        expect("fuzz/corpus_npz/%s.npz%s" % (name, "" if alone else ":" + key), a)


a, b = np.arange(6, dtype="f4").reshape(2, 3), np.array(["cat", "dog"])
both = {"a.npy": npy(a), "b.npy": npy(b)}
good_npz("stored", archive(both), {"a": a, "b": b, "a.npy": a})
good_npz("deflated", archive(both, zipfile.ZIP_DEFLATED), {"a": a, "b": b})
good_npz("streamed", archive(both, zipfile.ZIP_DEFLATED, True), {"a": a, "b": b})
good_npz("streamed_stored", archive(both, zipfile.ZIP_STORED, True), {"a": a})
good_npz("wide", archive(both, zipfile.ZIP_DEFLATED, False, True), {"b": b})
good_npz("alone", archive({"x.npy": npy(a)}, zipfile.ZIP_DEFLATED), {"x": a}, True)
f = io.BytesIO()
np.savez_compressed(f, e=a, y=np.arange(3))
good_npz("numpy", f.getvalue(), {"e": a, "y": np.arange(3)})

alone = archive({"x.npy": npy(a)})
packed = archive({"x.npy": npy(a)}, zipfile.ZIP_DEFLATED)
two = archive({"x.npy": npy(a), "y.npy": npy(a)})
end = alone.rindex(b"PK\5\6")
central = alone.index(b"PK\1\2")


def patch(content, at, new):
    return content[:at] + new + content[at + len(new):]


def wide_end(content, cut=0):
    """The same archive with all of its end said in zip64's records."""
    e = content.rindex(b"PK\5\6")
    n, size, at = struct.unpack("<HII", content[e + 10:e + 20])
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, n, n, size, at + cut)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, e, 1)
    return content[:e] + record + locator + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)


good_npz("wide_end", wide_end(alone), {"x": a}, True)
bomb = npy(np.zeros(10**5, "f4"))
z = zlib.compressobj(9, zlib.DEFLATED, -15)
short = z.compress(npy(a)[:-4]) + z.flush()
z = zlib.compressobj(9, zlib.DEFLATED, -15)
beyond = z.compress(npy(a) + b"\0") + z.flush()


def handmade(data, size, crc, method=8, flags=0, at=0, name=b"x.npy"):
    """One member with whatever the directory is to say of it."""
    local = b"PK\3\4" + struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 0, crc, len(data), size, len(name), 0) + name + data
    entry = b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, flags, method, 0, 0, crc, len(data), size, len(name),
                                    0, 0, 0, 0, 0, at) + name
    return local + entry + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)


deflate = packed[30 + 5:packed.index(b"PK\1\2")]
crc = zlib.crc32(npy(a))
BAD_NPZ = {
    "empty": b"", "no_end": alone[:end], "half_end": alone[:end + 12], "comment_lies": alone[:-2] + b"\5\0",
    "parts": patch(alone, end + 4, b"\1"), "count_lies": patch(alone, end + 8, b"\2\0\2\0"),
    "offset_lies": patch(alone, end + 16, b"\xff\xff\0\0"), "crc": patch(alone, central - 1, b"\7"),
    "encrypted": patch(alone, central + 8, b"\1"), "method": patch(alone, central + 10, b"\x0c"),
    "bzip2": archive({"x.npy": npy(a)}, zipfile.ZIP_BZIP2),
    "name_differs": patch(alone, 30, b"z"), "no_array": archive({"archive/data.pkl": b"\x80\2", "archive/version": b"3"}),
    "several": two, "twice": two.replace(b"y.npy", b"x.npy"),
    "overlap": patch(two, two.rindex(b"PK\1\2") + 42, struct.pack("<I", 0)),
    "size_lies": handmade(deflate, 10**9, crc), "more": handmade(deflate, len(npy(a)) - 4, crc),
    "overlap_data": patch(two, two.index(b"PK\1\2") + 20, struct.pack("<II", len(npy(a)) + 10, len(npy(a)) + 10)),
    "beyond": handmade(beyond, len(npy(a)), crc), "fewer": handmade(short, len(npy(a)), crc),
    "cut_deflate": handmade(deflate[:-6], len(npy(a)), crc),
    "broken_deflate": handmade(patch(deflate, 0, b"\7"), len(npy(a)), crc),
    "left_over": handmade(deflate + b"\0\0\0", len(npy(a)), crc), "local_lies": handmade(deflate, len(npy(a)), crc, at=4),
    "stored_size": handmade(npy(a), len(npy(a)) + 8, crc, 0), "bomb": archive({"x.npy": bomb}, zipfile.ZIP_DEFLATED),
    "object": archive({"x.npy": BAD_NPY["object"]}), "member_short": archive({"x.npy": one[:-4]}),
    "member_long": archive({"x.npy": one + b"\0\0"}), "wide_lies": wide_end(alone, 1),
    "nothing": archive({}), "nul_name": patch(alone, central + 46 + 2, b"\0"),
}
for name, content in BAD_NPZ.items():
    put("npz", name + ".npz", content)


def good_csv(name, text, **columns):
    put("csv", name + ".csv", text if isinstance(text, bytes) else text.encode())
    for spec, (kind, a) in columns.items():
        expect("fuzz/corpus_csv/%s.csv%s" % (name, "" if spec == "_" else ":" + spec), a, kind)


good_csv("plain", "id,label,e0,e1\n7,cat,1.5,2\n8,dog,-1e3,.25\n",
         **{"id": ("I64", [7, 8]), "label": (None, ["cat", "dog"]), "e0..e1": ("F64", [[1.5, 2], [-1000, .25]]),
            "e1,id": ("F64", [[2.0, 7], [.25, 8]]), "e1": ("F64", [2, .25]), "e0,e1": ("F64", [[1.5, 2], [-1000, .25]])})
f = io.StringIO()
w = csv.writer(f)                                  # RFC 4180 as Python has it: CRLF, quotes doubled
quoted = ["plain", "a,b", 'say "hi"', "two\nlines", " blanks ", "d\u00f6g", '"']
w.writerow(["n", "text, with comma", "e..g"])
for i, q in enumerate(quoted):
    w.writerow([i, q, i / 8])
good_csv("quotes", f.getvalue(), **{"text, with comma": (None, quoted), "e..g": ("F64", np.arange(7) / 8)})
good_csv("mark", b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4", a=("I64", [1, 3]), b=("I64", [2, 4]))
good_csv("alone", "x\n1\n2\n\n\n", _=("I64", [1, 2]))
good_csv("shuffled", "e1,e10,e2,e3,e0\n1,10,2,3,0\n", **{"e0..e3": ("F64", [[0.0, 1, 2, 3]]), "e2..e3": ("F64", [[2.0, 3]])})
good_csv("padded", "x08,x09,x10\n8,9,10\n", **{"x08..x10": ("F64", [[8.0, 9, 10]])})
good_csv("named", "a,b,c,d\n1,2,3,4\n", **{"b..c": ("F64", [[2.0, 3]])})
good_csv("blanks", "a, b\n 1 ,\t2\n", **{"a": ("I64", [1])})
good_csv("wild", "a,b\nnan,1\n-inf,2\n", **{"a": ("F64", [np.nan, -np.inf])})
good_csv("mixed", "a\n1\n2.5\n3\n", a=("F64", [1, 2.5, 3]))
good_csv("integers", "a\n9223372036854775807\n-9223372036854775808\n+5\n",
         a=("I64", np.array([2**63 - 1, -2**63, 5], dtype="i8")))

# Other dialects, as pandas writes them and a reader of the same dialect sees them.
frame = pd.DataFrame({"id": ["a;1", "b,2", 'c "3"'], "label": ["cat", "dog", "cat"], "p": [.5, -1250.75, 1e-7], "n": [1, 2, 3],
                      "e0": [0, 1.25, 3], "e1": [-.5, 2, 1e300]})
for name, style in (("european", dict(sep=";", decimal=",")), ("semicolons", dict(sep=";")), ("tabs", dict(sep="\t")),
                    ("european_tabs", dict(sep="\t", decimal=","))):
    text = frame.to_csv(index=False, **style)
    back = pd.read_csv(io.StringIO(text), **style)
    good_csv(name, text, id=(None, list(back["id"])), p=("F64", back["p"]), n=("I64", back["n"]),
             **{"e0..e1": ("F64", back[["e0", "e1"]])})
good_csv("sep_line", "sep=;\r\na;b\r\n1;0,5\r\n2;1\r\n", a=("I64", [1, 2]), b=("F64", [.5, 1]))
good_csv("one_semicolon", "a,b;c\n1,2;3\n4,5;6\n", a=("I64", [1, 4]), **{"b;c": (None, ["2;3", "5;6"])})
good_csv("tags", "a,b\n1,x;y\n2,z\n", b=(None, ["x;y", "z"]))
good_csv("both_points", "a;b\n0.5;1,5\n1;2,5\n", b=(None, ["1,5", "2,5"]), a=("F64", [.5, 1]))
lists = rng.standard_normal((4, 3)).astype("f4")
good_csv("lists", pd.DataFrame({"id": range(4), "emb": [[float(v) for v in r] for r in lists]}).to_csv(index=False),
         emb=("F64", lists.astype("f8")))
good_csv("lists_numpy", pd.DataFrame({"emb": list(np.arange(80.0).reshape(2, 40) / 7)}).to_csv(index=False),
         emb=("F64", [[float("%.8f" % v) for v in r] for r in np.arange(80.0).reshape(2, 40) / 7]))
good_csv("lists_semicolons", "emb;x\n[1, -2e3];1,5\n[3,4] ;2,5\n", emb=("F64", [[1.0, -2000], [3, 4]]), x=("F64", [1.5, 2.5]))
good_csv("lists_repr", 'emb\n"[np.float64(0.5), np.float64(-1e-3)]"\n"[np.float32(2.0), np.int64(7)]"\n',        # by numpy 2
         emb=("F64", [[.5, -1e-3], [2, 7]]))
good_csv("brackets", "w\n[a]\nb\n", w=(None, ["[a]", "b"]))

random.seed(3)
numbers = """0 -0 1e-400 1e400 4.9e-324 2.4703282292062327e-324 2.4703282292062328e-324 1.7976931348623157e308 9007199254740993
9007199254740992.5 0.1 123456789012345678901234567890 1. .5 1E5 1e+5 00012 9223372036854775808 1e23 8.5e22 5e-324
0.500000000000000166533453693773481063544750213623046875 2.2250738585072011e-308 179769313486231580793e289
1e0000000000000000000005""".split() + ["1" + "0" * 60, "0." + "0" * 60 + "1"]
for _ in range(700):
    digits = random.choice([3, 9, 16, 17, 18, 19, 20, 25])
    text = str(random.randint(10**(digits - 1), 10**digits - 1))
    at = random.randint(0, digits)
    numbers.append(random.choice("- ").strip() + (text[:at] or "0") + "." + text[at:]
                   + random.choice(["", "e%d" % random.randint(-40, 40), "E+07", "e-%d" % random.randint(280, 320)]))
for _ in range(150):                               # a double, and the middle between two of them, in all digits
    v = random.uniform(1, 2) * 2.0**random.randint(-30, 30)
    middle = (Fraction(v) + Fraction(np.nextafter(v, np.inf))) / 2
    scaled = middle.numerator * 10**80 // middle.denominator
    numbers += [repr(v), "%.18e" % v, ("%d" % (scaled // 10**80)) + "." + ("%080d" % (scaled % 10**80))]
good_csv("numbers", "v\n" + "\n".join(numbers) + "\n", v=("F64", [float(n) for n in numbers]))

BAD_CSV = {
    "empty": b"", "blank": b"\n\n\n", "header_only": b"a,b\n", "utf16": "a,b\n1,2\n".encode("utf-16"),
    "fewer": b"a,b\n1,2\n3\n", "more": b"a,b\n1,2\n3,4,5\n", "missing": b"a,b\n1,2\n3,\n4,5\n",
    "blank_cell": b"a,b\n1,2\n3,  \n",
    "word": b"a,b\n1,2\n3,x\n", "never_closed": b"a,b\n1,2\n\"3,4\n5,6\n", "amid": b"a,b\n1,2\n3\"4\"5,5\n",
    "behind": b"a,b\n\"1\"2,3\n", "header_quotes": b"a\"b\",c\n1,2\n", "same_name": b"a,a\n1,2\n",
    "dots": b"e0,e1,e3\n1,2,3\n",
    "lines": b"a,b\n\"1\n\",2\n3,4,5\n", "nul": b"a,b\nx\0y,2\n", "latin": "a\nd\u00f6g\n".encode("latin1"),
    "first": b"a,b\n1,2\n3,x\n4\ny,5\n" + b"1,2\n" * 9,
    "list_length": b'e\n"[1, 2]"\n"[3]"\n', "list_word": b'e\n"[1, 2]"\n"[3, None]"\n',
    "list_nested": b'e\n"[[1, 2], [3, 4]]"\n', "list_cut": b'e\n[1 2 ... 3]\n[1 2 3 4]\n', "list_none": b"e\n[]\n[1]\n",
    "ragged_semicolons": b"a;b\n1;2\n3;4;5\n",
    "hex": b"a,b\n0x10,1\n", "comma_number": b"a,b\n\"1,5\",2\n", "gap": b"a,b\n1,2\n\n3,4\n",
}
for name, content in BAD_CSV.items():
    put("csv", name + ".csv", content)

with open(os.path.join(tests, "golden", "arrays.txt"), "w") as f:
    f.write("\n".join(lines) + "\n")
