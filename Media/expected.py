#!/usr/bin/env python3
"""Holds the report of a batch over Media against the manifest.

    Media/expected.py .demo/report.jsonl

Exits 1 when a file came out otherwise than the manifest expects, naming each.
"""
import json
import pathlib
import sys

manifest = json.loads((pathlib.Path(__file__).parent / "manifest.json").read_text())
expected = {file["path"]: file["expect"] for file in manifest["files"]}
late = {file["path"] for file in manifest["files"] if "late pictures" in file["traits"]}
surprises = []
counts = {}

for text in pathlib.Path(sys.argv[1]).read_text().splitlines():
    line = json.loads(text)
    wanted = expected.pop(line.get("path"), None)
    if wanted is None:
        surprises.append(f"{line.get('path')}: not in the manifest")
        continue
    code = line["error"]["code"] if line["error"] else None
    # What libraries are there is not in the report: where an older one refuses the file, either will do.
    if code and wanted.get("older", {}).get("code") == code:
        wanted = {"state": "failed", "code": code}
    # Its pictures begin after the seconds that a notification shows, and within those of a message.
    if line["path"] in late and line["kind"] == "video":
        wanted = {"state": "delivered"}
    # A rerun says "unchanged" and repeats what came of the file before.
    state = line["state"]
    if state == "unchanged":
        skipped = code == "unrecognized_type" or line["source"]["bytes"] == 0
        state = "delivered" if code is None else "skipped" if skipped else "failed"
    if state != wanted["state"]:
        surprises.append(f"{line['path']}: {state} ({code}), expected {wanted['state']}")
    elif state == "delivered" and line["fidelity"] != wanted.get("fidelity", "full"):
        surprises.append(f"{line['path']}: {line['fidelity']}, expected {wanted.get('fidelity', 'full')}")
    elif wanted.get("code") and code != wanted["code"]:
        surprises.append(f"{line['path']}: {code}, expected {wanted['code']}")
    elif wanted.get("kind") and line["kind"] not in (wanted["kind"], None):
        surprises.append(f"{line['path']}: {line['kind']}, expected {wanted['kind']}")
    counts[state] = counts.get(state, 0) + 1

surprises += [f"{path}: no result" for path in expected]
for surprise in surprises:
    print(surprise, file=sys.stderr)
summary = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
if surprises:
    sys.exit(f"{len(surprises)} of {len(manifest['files'])} files came out otherwise than Media/manifest.json expects.")
print(f"All {len(manifest['files'])} files came out as Media/manifest.json expects:\n  {summary}.")
