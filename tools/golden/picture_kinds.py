#!/usr/bin/env python3
"""Pictures with an EXIF orientation, and what PIL makes of them.

    picture_kinds.py tests            writes the files tests/fuzz/corpus_{jpeg,png}/exif_* and tests/golden/picture_kinds.bin

Written with Pillow 13.0; Pillow 12.2 gives the same bytes. picture_kinds.bin: for each picture its name (32 bytes), then int32
stored width, height and orientation, then for convert("RGB") and for that of ImageOps.exif_transpose int32 width, height and
width x height x 3 bytes.
"""
import io
import os
import struct
import sys
import zlib

import numpy as np
from PIL import Image, ImageOps


def scene(w, h, channels=3):
    """Slopes, an edge and a corner that differs from the others."""
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([x * 255 // max(w - 1, 1), y * 255 // max(h - 1, 1), (x + 2 * y) % 7 * 36, (x * y) % 256][:channels], -1)
    a[:h // 3, :w // 3] = 250 - a[:h // 3, :w // 3] // 4
    return a.astype("u1")


def saved(image, kind, **more):
    out = io.BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


def exif(orientation, big=False, long=False, before=True):
    """A directory with one tag before the orientation and one behind it."""
    end = ">" if big else "<"
    value = struct.pack(end + "I", orientation) if long else struct.pack(end + "HH", orientation, 0)
    tags = [struct.pack(end + "HHI4s", 271, 2, 4, b"cam\0")] * before
    tags += [struct.pack(end + "HHI", 274, 4 if long else 3, 1) + value, struct.pack(end + "HHII", 296, 3, 1, 2)]
    return (b"MM" if big else b"II") + struct.pack(end + "HIH", 42, 8, len(tags)) + b"".join(tags) + bytes(4)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def turned():
    """All orientations of EXIF as cameras write them, and odd ones."""
    image = Image.fromarray(scene(13, 7))
    for k in range(1, 9):
        yield "jpeg", f"exif_{k}", saved(image, "JPEG", quality=90, exif=b"Exif\0\0" + exif(k, big=k % 2 == 0))
    yield "jpeg", "exif_long", saved(image, "JPEG", exif=b"Exif\0\0" + exif(6, long=True))
    yield "jpeg", "exif_9", saved(image, "JPEG", exif=b"Exif\0\0" + exif(9))
    yield "jpeg", "exif_cut", saved(image, "JPEG", exif=b"Exif\0\0" + exif(6)[:20])
    plain = saved(image, "PNG")
    yield "png", "exif_6", plain[:33] + chunk(b"eXIf", exif(6, big=True)) + plain[33:]
    yield "png", "exif_behind", plain[:-12] + chunk(b"eXIf", exif(8)) + plain[-12:]


def write(tests):
    with open(f"{tests}/golden/picture_kinds.bin", "wb") as out:
        for kind, name, data in turned():
            os.makedirs(f"{tests}/fuzz/corpus_{kind}", exist_ok=True)
            with open(f"{tests}/fuzz/corpus_{kind}/{name}", "wb") as f:
                f.write(data)
            image = Image.open(io.BytesIO(data))
            size = image.size
            orientation = image.getexif().get(274, 1)
            out.write(f"{kind}/{name}".encode().ljust(32, b"\0"))
            out.write(struct.pack("<3i", *size, orientation if 1 <= orientation <= 8 else 1))
            for shown in (image.convert("RGB"), ImageOps.exif_transpose(image).convert("RGB")):
                out.write(struct.pack("<2i", *shown.size) + shown.tobytes())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
