#!/usr/bin/env python3
"""Pictures with an EXIF orientation, and of the kinds that WebP, BMP, TIFF and GIF know, and what PIL makes of them.

    picture_kinds.py --check tests    compares an installed Pillow with them
    picture_kinds.py tests            writes the files tests/fuzz/corpus_{jpeg,png}/exif_*, those of
                                      tests/fuzz/corpus_{webp,bmp,tiff,gif}, tests/golden/mask_voc.png and
                                      tests/golden/picture_kinds.bin

Written with Pillow 13.0 (pip install pillow==13.0.0 numpy); --check holds for Pillow 12.2, too. picture_kinds.bin: for each
picture its name (32 bytes), then int32 stored width, height and orientation, then for convert("RGB") and for that of
ImageOps.exif_transpose int32 width, height and width x height x 3 bytes.
"""
import io
import os
import struct
import sys
import zlib

import numpy as np
import PIL
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


def palettes():
    rows = b"".join(b"\0" + bytes(r) for r in scene(13, 7, 1)[..., 0] % 5)
    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 13, 7, 8, 3, 0, 0, 0))
    yield "palette_few", (head + chunk(b"PLTE", bytes([9, 8, 7, 200, 100, 50])) + chunk(b"IDAT", zlib.compress(rows))
                          + chunk(b"IEND", b""))


def webps():
    picture, alpha = Image.fromarray(scene(13, 9)), Image.fromarray(scene(13, 9, 4))
    yield "lossy", saved(picture, "WEBP", quality=80)
    yield "lossless", saved(picture, "WEBP", lossless=True)
    yield "alpha", saved(alpha, "WEBP", quality=80, exact=True)
    yield "alpha_lossless", saved(alpha, "WEBP", lossless=True, exact=True)
    yield "frames", saved(picture, "WEBP", save_all=True, append_images=[picture.transpose(0)], lossless=True)
    yield "exif_6", saved(picture, "WEBP", lossless=True, exif=b"Exif\0\0" + exif(6))
    yield "exif_3_bare", saved(picture, "WEBP", exif=exif(3, big=True))


def bmp(w, h, bits, rows, palette=(), head=40, packing=0, masks=(), down=False, colors=0, offset=None):
    """rows: the bytes of the pixels, padded."""
    table = b"".join(bytes(c) + (b"" if head == 12 else b"\0") for c in palette)
    fields = struct.pack(f"<{len(masks)}I", *masks)
    if head == 12:
        info = struct.pack("<IHHHH", 12, w, h, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", head, w, -h if down else h, 1, bits, packing, len(rows), 2835, 2835, colors, 0)
        info += fields[:head - 40].ljust(head - 40, b"\0")
    extra = fields if head == 40 else b""
    at = 14 + len(info) + len(extra) + len(table) if offset is None else offset
    return b"BM" + struct.pack("<IHHI", at + len(rows), 0, 0, at) + info + extra + table + rows


def lines(w, bits, values):
    """(h, w) numbers as BMP's rows."""
    out = b""
    for row in values:
        text = "".join(format(int(v), f"0{bits}b") for v in row)
        text += "0" * (-len(text) % 32)
        out += bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
    return out


def bmps():
    w, h = 13, 6
    picture, grey = scene(w, h), scene(w, h, 1)[..., 0]
    yield "grey", saved(Image.fromarray(grey), "BMP")
    yield "two", saved(Image.fromarray(grey).convert("1"), "BMP")
    yield "colours", saved(Image.fromarray(picture), "BMP")
    yield "palette", saved(Image.fromarray(picture).convert("P"), "BMP")
    yield "alpha", saved(Image.fromarray(scene(w, h, 4)), "BMP")
    for bits in (1, 4, 8):
        n = 1 << bits
        palette = [((37 * i + 11) % 256, (91 * i) % 256, 255 - i * 3 % 256) for i in range(min(n, 200))]
        yield f"palette_{bits}", bmp(w, h, bits, lines(w, bits, grey % min(n, 200)), palette, colors=len(palette))
    yield "old", bmp(w, h, 8, lines(w, 8, grey), [(i, 255 - i, i // 2) for i in range(256)], head=12)
    yield "old_colours", bmp(w, h, 24, b"".join(bytes(r.ravel()) + b"\0" * (-3 * w % 4) for r in picture), head=12)
    yield "down", bmp(w, h, 24, b"".join(bytes(r.ravel()) + b"\0" * (-3 * w % 4) for r in picture), down=True)
    yield "few", bmp(w, h, 8, lines(w, 8, grey), [(9, 8, 7), (200, 100, 50)], colors=2)
    yield "early", bmp(w, h, 4, lines(w, 4, grey % 16), [(i * 16, i, 9) for i in range(16)], offset=54)
    v = (picture.astype(int) * np.array([1, 256, 65536])).sum(-1)
    yield "32", bmp(w, h, 32, v.astype("<u4").tobytes())
    red, green, blue = np.pad(picture, ((0, 0), (0, w % 2), (0, 0))).astype(int).transpose(2, 0, 1)
    fifteen = (red >> 3 << 10 | green >> 3 << 5 | blue >> 3).astype("<u2")
    sixteen = (red >> 3 << 11 | green >> 2 << 5 | blue >> 3).astype("<u2")
    yield "555", bmp(w, h, 16, fifteen.tobytes())
    yield "555_masks", bmp(w, h, 16, fifteen.tobytes(), packing=3, masks=(0x7c00, 0x3e0, 0x1f))
    yield "565", bmp(w, h, 16, sixteen.tobytes(), packing=3, masks=(0xf800, 0x7e0, 0x1f))
    yield "565_long", bmp(w, h, 16, sixteen.tobytes(), packing=3, masks=(0xf800, 0x7e0, 0x1f), head=124)
    for name, masks in (("xbgr", (0xff000000, 0xff0000, 0xff00)), ("rgba", (0xff, 0xff00, 0xff0000, 0xff000000)),
                        ("bgra", (0xff0000, 0xff00, 0xff, 0xff000000)), ("none", (0, 0, 0, 0))):
        yield name, bmp(w, h, 32, v.astype("<u4").tobytes(), packing=3, masks=masks, head=56)
    palette = [(i, 255 - i, i // 3) for i in range(256)]
    runs = b"".join(bytes([5, y * 9, 0, 3, 1, 2, 3, 0, w - 8, 200, 0, 0]) for y in range(4))
    runs += bytes([2, 7, 0, 2, 3, 0, 4, 90, 0, 0, w + 9, 44])           # a move, a row cut by its end, a run that is too long
    yield "rle8", bmp(w, h, 8, runs + bytes([0, 0, 0, 1]), palette, packing=1)
    runs = b"".join(bytes([5, 0x21 * (y + 1), 0, 6, 0x12, 0x34, 0x56, 0, w - 11, 0xa5, 0, 0]) for y in range(h))
    yield "rle4", bmp(w, h, 4, runs + bytes([0, 1]), palette[:256:16], packing=2)
    runs = runs.replace(bytes([0, 6]), bytes([0, 5])).replace(bytes([w - 11, 0xa5]), bytes([w - 10, 0xa5]))
    yield "rle4_odd", bmp(w, h, 4, runs + bytes([0, 1]), palette[:256:16], packing=2)


def tiff(w, h, parts, bits, photo, samples=1, big=False, wide=False, tags=(), tile=None, rows=None):
    """parts: the bytes of strips (of `rows` rows), tiles or planes. tags: further (tag, type, values)."""
    end = ">" if big else "<"
    found = [(256, 4, [w]), (257, 4, [h]), (258, 3, [bits] * samples), (259, 3, [1]), (262, 3, [photo]), (277, 3, [samples])]
    where, sizes = (324, 325) if tile else (273, 279)
    found += [(322, 4, [tile[0]]), (323, 4, [tile[1]])] if tile else [(278, 4, [rows or h])]
    at = 16 if wide else 8
    offsets = [at + sum(map(len, parts[:i])) for i in range(len(parts))]
    found += [(where, 4, offsets), (sizes, 4, [len(p) for p in parts]), *tags]
    merged = {t[0]: t for t in found}                                     # a further tag replaces one of the same number
    data = b"".join(parts)
    data += b"\0" * (len(data) % 2)
    body, more, directory = b"", b"", at + len(data)
    size = (20, 8) if wide else (12, 4)
    behind = directory + (8 if wide else 2) + size[0] * len(merged) + size[1]
    for tag, kind, values in sorted(merged.values()):
        v = b"".join(struct.pack(end + " BsHIxxxxxxxxxxxxQ"[kind], x) for x in values)
        if len(v) > size[1]:
            place, more = behind + len(more), more + v + b"\0" * (len(v) % 2)
            v = struct.pack(end + "IQ"[wide], place)
        body += struct.pack(end + ("HHQ" if wide else "HHI"), tag, kind, len(values)) + v.ljust(size[1], b"\0")
    head = (b"MM" if big else b"II") + (struct.pack(end + "HHHQ", 43, 8, 0, directory) if wide
                                        else struct.pack(end + "HI", 42, directory))
    return head + data + struct.pack(end + "HQ"[wide], len(merged)) + body + bytes(size[1]) + more


def packed(values, bits):
    out = b""
    for row in values:
        text = "".join(format(int(v), f"0{bits}b") for v in row)
        text += "0" * (-len(text) % 8)
        out += bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
    return out


def tiffs():
    w, h = 13, 7
    picture, grey = scene(w, h), scene(w, h, 1)[..., 0]
    image = Image.fromarray(picture)
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK"):
        shown = Image.fromarray(scene(w, h, 4)) if "A" in mode else image
        yield f"pil_{mode}", saved(shown.convert(mode), "TIFF")
    for packing in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"):
        yield packing, saved(image, "TIFF", compression=packing)
    yield "ycbcr_jpeg", saved(image.convert("YCbCr"), "TIFF", compression="jpeg")
    for packing in ("group3", "group4"):
        yield packing, saved(Image.fromarray(grey).convert("1"), "TIFF", compression=packing)
    yield "lzw_16", saved(Image.fromarray((grey.astype("u2") * 3)), "TIFF", compression="tiff_lzw")
    yield "int_32", saved(Image.fromarray(grey.astype("i4") * 2 - 90), "TIFF")
    yield "float", saved(Image.fromarray(grey.astype("f4") * 1.7 - 40.3), "TIFF")
    for k in range(1, 9):
        yield f"exif_{k}", saved(image, "TIFF", tiffinfo={274: k}, compression="tiff_lzw")
    yield "frames", saved(image, "TIFF", save_all=True, append_images=[image.transpose(0)])
    for bits in (2, 4):
        for photo in (0, 1):
            yield f"grey_{bits}_{photo}", tiff(w, h, [packed(grey >> 8 - bits, bits)], bits, photo, big=bits == 4)
        n = 1 << bits
        colours = [(4000 * i * (k + 1) + 77 * k) % 65536 for k in range(3) for i in range(n)]
        yield f"palette_{bits}", tiff(w, h, [packed(grey >> 8 - bits, bits)], bits, 3, tags=[(320, 3, colours)])
    yield "grey_1_0", tiff(w, h, [packed(grey >> 7, 1)], 1, 0)
    yield "grey_8_0", tiff(w, h, [grey[:4].tobytes(), grey[4:].tobytes()], 8, 0, rows=4)
    for big in (False, True):
        sixteen = (grey.astype("u2") * 3).astype(">u2" if big else "<u2")
        yield f"grey_16_{big:d}", tiff(w, h, [sixteen.tobytes()], 16, 1, big=big)
        signed = (grey.astype("i2") * 3 - 200).astype(">i2" if big else "<i2")
        yield f"signed_16_{big:d}", tiff(w, h, [signed.tobytes()], 16, 1, big=big, tags=[(339, 3, [2])])
        colours = (picture.astype("u2") * 257 - 99 * (picture > 0)).astype(">u2" if big else "<u2")
        yield f"colours_16_{big:d}", tiff(w, h, [colours.tobytes()], 16, 2, 3, big=big)
    alpha = scene(w, h, 4)
    alpha[0] = 0
    alpha[1, :, 3] = 255
    for extra in (0, 1, 2):
        yield f"extra_{extra}", tiff(w, h, [alpha.tobytes()], 8, 2, 4, tags=[(338, 3, [extra])])
    yield "grey_alpha", tiff(w, h, [alpha[..., :2].tobytes()], 8, 1, 2, tags=[(338, 3, [2])])
    yield "cmyk_extra", tiff(w, h, [np.dstack([alpha, grey]).tobytes()], 8, 5, 5, tags=[(338, 3, [0])])
    yield "wide", tiff(w, h, [picture.tobytes()], 8, 2, 3, wide=True)
    yield "planes", tiff(w, h, [picture[..., k].tobytes() for k in range(3)], 8, 2, 3, tags=[(284, 3, [2])])
    yield "plane_strips", tiff(w, h, [picture[y:y + 3, :, k].tobytes() for k in range(3) for y in (0, 3, 6)], 8, 2, 3, rows=3,
                               tags=[(284, 3, [2])])
    large = scene(37, 19)
    padded = np.zeros((32, 48, 3), "u1")
    padded[:19, :37] = large
    tiles = [padded[y:y + 16, x:x + 16].tobytes() for y in (0, 16) for x in (0, 16, 32)]
    yield "tiles", tiff(37, 19, tiles, 8, 2, 3, tile=(16, 16))


def gif_pixels(values, bits):
    """LZW that says every number by itself and begins anew before codes grow."""
    out, start, count = "", 1 << bits, 0
    codes = [start]
    for v in values:
        codes.append(int(v))
        count += 1
        if count == start - 2:
            codes.append(start)
            count = 0
    for code in codes + [start + 1]:
        out = format(code, f"0{bits + 1}b") + out
    out = "0" * (-len(out) % 8) + out
    data = bytes(int(out[i:i + 8], 2) for i in range(len(out) - 8, -1, -8))
    return bytes([bits]) + b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"


def gif(screen, frame, values, palette=None, own=None, transparent=None, interlaced=False):
    """frame: left, top, width, height. palette: 2**n colours."""
    def table(colours):
        return bytes(x for c in colours for x in c)

    bits = max(2, int(np.ceil(np.log2(len(own or palette or range(256))))))
    flags = 0x80 | (len(palette).bit_length() - 2) if palette else 0
    out = b"GIF89a" + struct.pack("<HHBBB", *screen, flags, 0, 0) + (table(palette) if palette else b"")
    out += b"!\xfe\x05hello\0"
    if transparent is not None:
        out += b"!\xf9\x04" + struct.pack("<BHB", 1, 0, transparent) + b"\0"
    rows = np.asarray(values)
    if interlaced:
        rows = np.concatenate([rows[0::8], rows[4::8], rows[2::4], rows[1::2]])
    flags = (0x40 if interlaced else 0) | (0x80 | (len(own).bit_length() - 2) if own else 0)
    out += b"," + struct.pack("<HHHHB", *frame, flags) + (table(own) if own else b"")
    return out + gif_pixels(rows.ravel(), bits) + b";"


def gifs():
    w, h = 13, 11
    image = Image.fromarray(scene(w, h))
    yield "pil_P", saved(image.convert("P"), "GIF")
    yield "pil_L", saved(Image.fromarray(scene(w, h, 1)[..., 0]), "GIF")
    yield "frames", saved(image.convert("P"), "GIF", save_all=True, append_images=[image.transpose(0).convert("P")])
    palette = [((37 * i + 11) % 256, (91 * i) % 256, 255 - i * 3) for i in range(16)]
    own = [(i * 30, 255 - i * 20, 7) for i in range(8)]
    v = scene(w, h, 1)[..., 0] % 16
    yield "plain", gif((w, h), (0, 0, w, h), v, palette)
    yield "interlaced", gif((w, h), (0, 0, w, h), v, palette, interlaced=True)
    yield "own", gif((w, h), (0, 0, w, h), v % 8, palette, own)
    yield "small", gif((w + 4, h + 3), (2, 1, w, h), v, palette)
    yield "small_own", gif((w + 4, h + 3), (2, 1, w, h), v % 8, palette, own)
    yield "small_transparent", gif((w + 4, h + 3), (2, 1, w, h), v, palette, transparent=5)
    yield "large", gif((w - 4, h), (1, 2, w, h), v, palette)
    yield "no_palette", gif((w, h), (0, 0, w, h), v * 16)
    for n in range(1, 7):
        yield f"interlaced_{n}", gif((3, n), (0, 0, 3, n), v[:n, :3], palette, interlaced=True)


def all_pictures():
    yield from turned()
    for kind, made in (("png", palettes()), ("webp", webps()), ("bmp", bmps()), ("tiff", tiffs()), ("gif", gifs())):
        for name, data in made:
            yield kind, name, data


def voc_mask():
    """A mask of Pascal VOC: a cat (8) with a void edge (255) before the background (0)."""
    index = np.zeros((32, 32), "u1")
    index[7:25, 7:25] = 255
    index[8:24, 8:24] = 8
    image = Image.fromarray(index, "P")
    palette = np.zeros((256, 3), int)
    for bit in range(8):                       # as VOCdevkit makes its colours
        for k in range(3):
            palette[:, k] |= (np.arange(256) >> 3 * bit + k & 1) << 7 - bit
    image.putpalette(palette.astype("u1").tobytes())
    assert image.getpalette()[24:27] == [64, 0, 0]
    return saved(image, "PNG")


def record(kind, name, data):
    image = Image.open(io.BytesIO(data))
    tags = getattr(image, "tag_v2", {})
    size = (tags[256], tags[257]) if tags else image.size             # as they are stored
    orientation = tags.get(274) or image.getexif().get(274, 1)
    out = f"{kind}/{name}".encode().ljust(32, b"\0")
    out += struct.pack("<3i", *size, orientation if 1 <= orientation <= 8 else 1)
    for shown in (image.convert("RGB"), ImageOps.exif_transpose(image).convert("RGB")):
        out += struct.pack("<2i", *shown.size) + shown.tobytes()
    return out


def write(tests):
    with open(f"{tests}/golden/mask_voc.png", "wb") as f:
        f.write(voc_mask())
    with open(f"{tests}/golden/picture_kinds.bin", "wb") as out:
        for kind, name, data in all_pictures():
            os.makedirs(f"{tests}/fuzz/corpus_{kind}", exist_ok=True)
            with open(f"{tests}/fuzz/corpus_{kind}/{name}", "wb") as f:
                f.write(data)
            out.write(record(kind, name, data))


def check(tests):
    """Another Pillow shows the files that are there alike."""
    with open(f"{tests}/golden/picture_kinds.bin", "rb") as f:
        known = f.read()
    for kind, name, _ in all_pictures():
        if name == "rle4_odd" and int(PIL.__version__.split(".")[0]) < 13:        # which it reads wrong
            continue
        with open(f"{tests}/fuzz/corpus_{kind}/{name}", "rb") as f:
            if record(kind, name, f.read()) not in known:
                sys.exit(f"{kind}/{name}: Pillow {PIL.__version__} shows it differently")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        check(sys.argv[2])
    elif len(sys.argv) == 2:
        write(sys.argv[1])
    else:
        sys.exit(__doc__)
