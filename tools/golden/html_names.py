#!/usr/bin/env python3
"""Writes host/formats/html_names.c: the names of characters in HTML 5, from Python's html.entities."""
import html.entities
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WIDTH = 119

entries = [f"{name}={'+'.join(f'{ord(ch):x}' for ch in chars)} " for name, chars in html.entities.html5.items()]
lines = [""]
for entry in sorted(entries, key=lambda e: e[:e.index("=")].encode()):
    if len(lines[-1]) + len(entry) > WIDTH:
        lines.append("")
    lines[-1] += entry
with open(os.path.join(ROOT, "host/formats/html_names.c"), "w") as f:
    f.write("/* html_names.c - written by tools/golden/html_names.py; see html_names.h. */\n"
            '#include "formats/html_names.h"\n\n'
            "const char *const spot_html_line[] = {\n")
    f.writelines(f'    "{line}",\n' for line in lines)
    f.write("};\n\nconst int spot_html_lines = sizeof spot_html_line / sizeof *spot_html_line;\n")
