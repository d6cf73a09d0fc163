#!/usr/bin/env python3
"""Says what the files of a batch came to in bytes, kind by kind, and in the last line all of them and the largest picture.

    Media/sizes.py .demo/report.jsonl
"""
import json
import pathlib
import sys

NAMES = {"image": "pictures", "animation": "animations", "audio": "sounds", "video": "videos"}


def size(count: float) -> str:
    """Three figures, as on the command line."""
    for unit in ("B", "kB", "MB"):
        if count < 999.5 or unit == "MB":
            return f"{count:.3g} {unit}"
        count /= 1000


sums = {}
largest = (0, 0, 0)
for text in pathlib.Path(sys.argv[1]).read_text().splitlines():
    line = json.loads(text)
    made = {role: file["bytes"] for role, file in (line["renditions"] or {}).items()}
    if "main" not in made:
        continue
    came = line["source"]["bytes"]
    row = sums.setdefault(line["kind"], [0, 0, 0])
    for index, value in enumerate((1, came, made["main"])):
        row[index] += value
    if line["kind"] == "image":
        largest = max(largest, (came, made["main"], made.get("thumbnail", 0)))

for kind, name in NAMES.items():
    if kind in sums:
        count, came, main = sums[kind]
        print(f"  {count:4} {name:<11}{size(came):>8} became {size(main):>8}")
came, main = (sum(row[index] for row in sums.values()) for index in (1, 2))
photograph, shown, thumbnail = largest
print(f"{size(came)} of media became {size(main)}; the largest photograph, {size(photograph)}, is {size(shown)} in a "
      f"notification and {size(thumbnail)} as its thumbnail.")
