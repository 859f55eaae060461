"""tests/fuzz: small inputs, good and broken, for the targets of detections, versions, TGA, kept answers and configs of examine.

    fuzz_rows.py"""
import io
import json
import os
import struct

import numpy as np

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def write(target, name, data):
    folder = os.path.join(root, "tests/fuzz/corpus_" + target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


# -- detections: annotations, NUL, results -------------------------------------------------------------------------


def annotation(number, image, category, box, **more):
    return {"id": number, "image_id": image, "category_id": category, "bbox": box, **more}


def found(image, category, box, score, **more):
    return {"image_id": image, "category_id": category, "bbox": box, "score": score, **more}


def detections(kind, annotations, results, images=None):
    truth = {"images": images or [{"id": 1, "file_name": "a.png", "width": 9, "height": 9}, {"id": 2, "file_name": "b.png"}],
             "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}], "annotations": annotations}
    return bytes([kind]) + json.dumps(truth, separators=(",", ":")).encode() + b"\0" + json.dumps(
        results, separators=(",", ":")).encode()


BOXES = [annotation(1, 1, 1, [1, 1, 4, 4]), annotation(2, 1, 2, [2, 2, 5, 5]), annotation(3, 2, 1, [0, 0, 3, 3])]
FOUND = [found(1, 1, [1, 1, 4, 4], 0.9), found(1, 2, [5, 5, 2, 2], 0.6), found(2, 2, [0, 0, 3, 3], 0.4)]
write("detections", "both", detections(64 + 8, BOXES, FOUND))
write("detections", "misses", detections(1, BOXES, FOUND))
write("detections", "alarms", detections(2 + 12, BOXES, FOUND))
write("detections", "crowd", detections(64, BOXES + [annotation(4, 2, 1, [0, 0, 9, 9], iscrowd=1)], FOUND))
write("detections", "ids_twice", detections(8, [annotation(1, 1, 1, [1, 1, 2, 2])] * 2, FOUND))
write("detections", "outline", detections(4, [{"image_id": 1, "category_id": 1,
                                               "segmentation": [[1, 1, 5, 1, 5, 5]]}], FOUND[:1]))
write("detections", "no_box", detections(4, [{"image_id": 1, "category_id": 1}], FOUND[:1]))
write("detections", "by_file", detections(8, BOXES[:1], [{"file_name": "b.png", "category_id": 1, "bbox": [0, 0, 1, 1],
                                                          "score": 1}]))
write("detections", "unknown", detections(8, BOXES, [found(7, 1, [0, 0, 1, 1], 1), found(1, 7, [0, 0, 1, 1], 1)]))
write("detections", "none", detections(8, [], []))

# -- versions: ids, NUL, probabilities, NUL, those of a further training -------------------------------------------

SECOND = "cat,dog\n.8,.2\n.1,.9\n.7,.3\n.6,.4\n"


def npy(rows):
    file = io.BytesIO()
    np.save(file, np.array(rows, "f4"))
    return file.getvalue()


def versions(kind, ids, second, third=b""):
    return bytes([kind]) + ids.encode() + b"\0" + second.encode() + b"\0" + third


write("versions", "plain", versions(0, "", SECOND))
write("versions", "ids", versions(0, "id\nc\nd 1\na\nb\n", SECOND))
write("versions", "ids_forms", versions(0, "id\n./c\n d 1\na \nb\n", SECOND))
write("versions", "ids_twice", versions(0, "id\nc\nc\na\nb\n", SECOND))
write("versions", "retrain", versions(1, "", SECOND, npy([[.9, .1], [.3, .7], [.5, .5], [.2, .8]])))
write("versions", "retrain_one", versions(0, "", "p\n.8\n.9\n.7\n.6\n", SECOND.encode()))
write("versions", "logits", versions(2, "", "cat,dog\n8,-2\n-1,9\n7,3\n-6,1e9\n"))
write("versions", "columns", versions(0, "", "dog,cow\n.8,.2\n.1,.9\n.7,.3\n.6,.4\n"))
write("versions", "rows", versions(0, "", SECOND[:-6]))

# -- TGA -----------------------------------------------------------------------------------------------------------


def tga(kind, width, height, bits, pixels, flags=0, palette=(0, 0, 0), text=b""):
    return struct.pack("<BBBHHBHHHHBB", len(text), palette[1] > 0, kind, *palette, 0, 0, width, height, bits, flags) + text \
        + pixels


write("tga", "colours", tga(2, 2, 2, 24, bytes(range(12))))
write("tga", "alpha", tga(2, 2, 1, 32, bytes(range(8)), flags=8 + 32))
write("tga", "short", tga(2, 2, 1, 16, b"\x12\x34\x56\x78", flags=16))
write("tga", "runs", tga(10, 4, 2, 24, b"\x82abc\x00def\x83ghi"))
write("tga", "runs_grey", tga(11, 4, 1, 8, b"\x01ab\x81c"))
write("tga", "palette", tga(1, 3, 1, 8, bytes(range(6)) + b"\0\1\2", palette=(0, 2, 24), text=b"hi"))
write("tga", "palette_first", tga(9, 3, 1, 8, bytes(range(8)) + b"\x82\7", palette=(7, 2, 32)))
write("tga", "palette_cut", tga(1, 3, 1, 8, b"\0\1", palette=(0, 65535, 24)))
write("tga", "large", tga(10, 65535, 65535, 24, b"\xffabc"))
write("tga", "cut", tga(10, 4, 2, 24, b"\x82ab"))

# -- configs of examine --------------------------------------------------------------------------------------------

write("examine_config", "least", "study: examine\nobjects: {catalogue: objects}\n")
write("examine_config", "outside", "study: examine\nobjects: {catalogue: o, choice: first, up: z}\nclasses:\n  - {name: chair, "
      "words: chair stool}\n  - {name: bed}\n  - {name: other, leave: true}\n"
      "models:\n  - {name: mine, weights: m.safetensors, classes: c.txt}\n"
      "  - {name: program, command: python3 it.py}\nfactors:\n  - {factor: camera_roll, least: 0, most: 90}\n"
      "search: {renders: 50, points: \"40, 50\", seeds: 2}\nexaminers: [{method: random}, {method: cem}]\n")
write("examine_config", "planted", "study: examine\nobjects: {catalogue: o}\nmodels:\n  - name: a\n    renders: 8\n"
      "    region:\n      - {factor: camera_elevation, least: 30, most: 60}\nmaps: {renders: 0, scans: none}\n")
write("examine_config", "curve", "study: examine\nsearch: {renders: 50, points: \"50, 10\"}\n")

# -- answers that a run keeps --------------------------------------------------------------------------------------


def kept(pictures=(2, 2, 2, 3), **arrays):
    header, data = {}, b""
    for name, a in (("pictures", np.arange(np.prod(pictures), dtype="u1").reshape(pictures)), *arrays.items()):
        header[name] = {"dtype": "U8" if a.dtype == "u1" else "F32", "shape": list(a.shape),
                        "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


two = np.array([[1, 2], [3, 5]], "f4")
write("kept", "all", kept(logits=two, embeddings=two, channels=two))
write("kept", "logits", kept(logits=two))
write("kept", "rows", kept(logits=two, embeddings=two[:1]))
write("kept", "no_logits", kept(embeddings=two))
write("kept", "not_square", kept((2, 2, 1, 3), logits=two))
write("kept", "not_finite", kept(logits=two * np.float32("inf")))
write("kept", "cut", kept(logits=two)[:-3])
