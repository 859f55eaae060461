#!/usr/bin/env python3
"""Pictures of every kind that PNG and JPEG know, and what PIL and torchvision make of them.

    pictures.py tests                 writes tests/fuzz/corpus_{png,jpeg} and tests/golden/pictures.bin
    pictures.py --against PROGRAM     PROGRAM FILE RESIZE CROP FILTER ... must give the same bytes on many more

Written with Pillow 9.4 and torchvision 0.14. pictures.bin: for each picture its name (32 bytes), then int32 width, height,
cases and width x height x 3 bytes of convert("RGB"); for each case int32 resize, crop, filter (0 bilinear, 1 bicubic) and
crop x crop x 3 bytes.
"""
import io
import itertools
import os
import random
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy as np
import PIL
from PIL import Image, ImageFile
from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Resize

warnings.simplefilter("ignore")   # of transparency that convert("RGB") drops
ImageFile.MAXBLOCK = 1 << 22      # else PIL cannot write every progressive JPEG
OLD = 0 if int(PIL.__version__.split(".")[0]) >= 13 else 2          # the order in which tall pictures are resized
GRAY, RGB, PALETTE, GRAY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGB_ALPHA: 4}
SIGNATURE = b"\x89PNG\r\n\x1a\n"
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def packed(row, depth):
    if depth >= 8:
        return np.asarray(row, ">u2" if depth == 16 else "u1").tobytes()
    bits = "".join(format(v, f"0{depth}b") for v in row)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def filtered(pixels, depth):
    """(h, w, channels) of numbers as PNG's lines: plain, sub, up, plain, ..."""
    step, out, before = max(1, pixels.shape[2] * depth // 8), [], None
    for y, row in enumerate(pixels.reshape(len(pixels), -1)):
        line = packed(row, depth)
        left = (bytes(step) + line)[:len(line)]
        out.append(bytes([y % 3]) + bytes((v - p) & 255 for v, p in zip(line, (bytes(len(line)), left, before)[y % 3])))
        before = line
    return b"".join(out)


def png(pixels, color, depth, interlaced=False, palette=None, trns=None):
    """pixels (h, w, channels) of numbers below 2**depth."""
    h, w = pixels.shape[:2]
    parts = [pixels[y0::dy, x0::dx] for x0, y0, dx, dy in ADAM7] if interlaced else [pixels]
    out = SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, int(interlaced)))
    if palette is not None:
        out += chunk(b"PLTE", np.asarray(palette, "u1").tobytes())
    if trns is not None:
        out += chunk(b"tRNS", trns)
    data = zlib.compress(b"".join(filtered(p, depth) for p in parts if p.size), 9)
    return out + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def scene(rng, w, h, channels, depth):
    """Something with edges, slopes and noise."""
    y, x = np.mgrid[0:h, 0:w]
    top = 2 ** depth - 1
    out = []
    for k in range(channels):
        v = (np.sin(x / (3 + k) + k) + np.cos(y / (2 + k))) / 4 + 0.5 + rng.normal(0, 0.08, (h, w))
        v = np.where((x + 2 * y) % (11 + k) < 3, rng.random(), v)
        out.append(np.clip(np.rint(v * top), 0, top).astype(int))
    return np.stack(out, -1)


def pngs(rng, w, h):
    for color, depths in ((GRAY, (1, 2, 4, 8, 16)), (RGB, (8, 16)), (PALETTE, (1, 2, 4, 8)), (GRAY_ALPHA, (8, 16)),
                          (RGB_ALPHA, (8, 16))):
        for depth in depths:
            for interlaced in (False, True):
                palette, px = None, scene(rng, w, h, CHANNELS[color], depth)
                if color == PALETTE:
                    palette = rng.integers(0, 256, (2 ** depth if depth < 8 else 200, 3))
                    px %= len(palette)
                if color == GRAY and depth == 16:
                    px //= 97                  # some above 255, some below
                name = {0: "gray", 2: "rgb", 3: "palette", 4: "gray_alpha", 6: "rgb_alpha"}[color]
                yield f"{name}_{depth}{'_i' if interlaced else ''}", png(px, color, depth, interlaced, palette)
    yield "gray_8_trns", png(scene(rng, w, h, 1, 8), GRAY, 8, trns=struct.pack(">H", 77))
    yield "gray_2_trns", png(scene(rng, w, h, 1, 2), GRAY, 2, trns=struct.pack(">H", 1))
    yield "rgb_8_trns", png(scene(rng, w, h, 3, 8), RGB, 8, trns=struct.pack(">HHH", 1, 2, 3))
    yield "palette_8_trns", png(scene(rng, w, h, 1, 8), PALETTE, 8,
                                palette=rng.integers(0, 256, (256, 3)), trns=bytes(range(99)))


def saved(image, **how):
    f = io.BytesIO()
    image.save(f, "JPEG", **how)
    return f.getvalue()


def marked(jpeg, transform):
    """The same with another colour transform in its Adobe marker."""
    at = jpeg.index(b"Adobe")
    return jpeg[:at + 11] + bytes([transform]) + jpeg[at + 12:]


def jpegs(rng, w, h):
    rgb = Image.fromarray(scene(rng, w, h, 3, 8).astype("u1"), "RGB")
    for sub in (0, 1, 2):
        for progressive in (False, True):
            yield f"rgb_{('444', '422', '420')[sub]}{'_p' if progressive else ''}", \
                saved(rgb, quality=85, subsampling=sub, progressive=progressive, optimize=progressive)
    exif = Image.Exif()
    exif[0x0112] = 6
    yield "rgb_turned", saved(rgb, quality=70, exif=exif.tobytes())
    yield "gray", saved(rgb.convert("L"), quality=90)
    ink = Image.fromarray(scene(rng, w, h, 4, 8).astype("u1"), "CMYK")
    yield "cmyk", saved(ink, quality=90)
    yield "ycck", marked(saved(ink, quality=90), 2)


def hostile_pngs(rng):
    good = png(scene(rng, 9, 7, 3, 8), RGB, 8)
    yield "bomb", SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 20000, 20000, 1, 0, 0, 0, 0)) + good[33:]
    yield "no_palette", good.replace(good[8:33], chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 7, 8, 3, 0, 0, 0)))
    yield "wrong_sum", good[:50] + bytes([good[50] ^ 1]) + good[51:]
    yield "too_few_rows", good.replace(good[8:33], chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 700, 8, 2, 0, 0, 0)))
    yield "profile", good[:33] + chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(1 << 20), 9)) + good[33:]


def hostile_jpegs(rng):
    good = saved(Image.fromarray(scene(rng, 8, 8, 3, 8).astype("u1"), "RGB"), progressive=True)
    first = good.index(b"\xff\xda")
    second = good.index(b"\xff", first + 2)
    while good[second + 1] == 0:
        second = good.index(b"\xff", second + 2)
    yield "scans", good[:first] + good[first:second] * 600 + good[second:]
    plain = saved(Image.fromarray(scene(rng, 30, 40, 3, 8).astype("u1"), "RGB"))
    middle = plain.index(b"\xff\xda") + 200
    yield "ends_early", plain[:middle] + b"\xff\xd9"
    yield "twelve_bits", plain.replace(b"\xff\xc0\x00\x11\x08", b"\xff\xc1\x00\x11\x0c")
    yield "garbage_within", plain[:middle] + bytes(range(256)) + plain[middle:]


def told(data):
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


FILTERS = [InterpolationMode.BILINEAR, InterpolationMode.BICUBIC]


def fitted(image, resize, crop, how):
    return np.asarray(Compose(([Resize(resize, FILTERS[how])] if resize else []) + [CenterCrop(crop)])(image)).tobytes()


def write(tests):
    rng = np.random.default_rng(5)
    with open(f"{tests}/golden/pictures.bin", "wb") as out:
        for kind, made in (("png", pngs(rng, 21, 14)), ("jpeg", jpegs(rng, 27, 38))):
            os.makedirs(f"{tests}/fuzz/corpus_{kind}", exist_ok=True)
            for name, data in made:
                with open(f"{tests}/fuzz/corpus_{kind}/{name}", "wb") as f:
                    f.write(data)
                image, cases = told(data), ((11, 8, 0), (33, 16, 0), (0, 17, 0), (11, 8, 1), (33, 16, 1))
                out.write(f"{kind}/{name}".encode().ljust(32, b"\0"))
                out.write(struct.pack("<3i", *image.size, len(cases)) + image.tobytes())
                for case in cases:
                    out.write(struct.pack("<3i", *case) + fitted(image, *case))
    for kind, made in (("png", hostile_pngs(rng)), ("jpeg", hostile_jpegs(rng))):
        for name, data in made:
            with open(f"{tests}/fuzz/corpus_{kind}/{name}", "wb") as f:
                f.write(data)


def against(program):
    rng, random_ = np.random.default_rng(int.from_bytes(os.urandom(4), "little")), random.Random()
    with tempfile.TemporaryDirectory() as folder:
        wanted, arguments, names = [], [], []
        sizes = [(1, 1), (1, 9), (300, 1), (479, 641)]
        sizes += [(random_.randint(1, 90), random_.randint(1, 90)) for _ in range(3)]
        for i, (w, h) in enumerate(sizes):
            made = list(jpegs(rng, w, h)) + (list(pngs(rng, w, h)) if w * h < 9000 else [])
            for name, data in made:
                path = f"{folder}/{i}_{name}"
                with open(path, "wb") as f:
                    f.write(data)
                image = told(data)
                some = (random_.randint(1, 99), random_.randint(1, 120))
                for resize, crop, how in [(256, 224, 0), (224, 224, 1), (*some, 0), (*some, 1), (0, random_.randint(1, 99), 0)]:
                    if max(w, h) * resize > 4000000 * min(w, h):
                        continue
                    wanted.append(fitted(image, resize, crop, how))
                    arguments.append((path, str(resize), str(crop), str(how + OLD)))
        got = subprocess.run([program, *itertools.chain(*arguments)], stdout=subprocess.PIPE, check=True).stdout
        at = 0
        for w, a in zip(wanted, arguments):
            if got[at:at + len(w)] != w:
                mine, theirs = (np.frombuffer(b, "u1").astype(int) for b in (got[at:at + len(w)], w))
                far = np.abs(mine - theirs).max() if mine.shape == theirs.shape else "all"
                sys.exit(f"{' '.join(a)}: differs by up to {far}")
            at += len(w)
        if at != len(got):
            sys.exit(f"{len(got) - at} bytes too many")
        print(f"{len(wanted)} pictures as PIL and torchvision show them, to the byte")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--against":
        against(sys.argv[2])
    elif len(sys.argv) == 2:
        write(sys.argv[1])
    else:
        sys.exit(__doc__)
