#!/bin/sh
# Whether the locks, the manifest and SECURITY.md agree, and whether the SBOM of what was built is one: `make check` runs it.
#
#   Tests/supply.sh [products]
#
# The judge of CycloneDX is kept in .build/supply.
set -eu
cd "$(dirname "$0")/.."
products=${1:-.build/debug}
. Tests/service.sh
Packaging/supply/supply.py check
install_tools "$PWD/.build/supply" "cyclonedx-python-lib[json-validation]==11.12.0"
Packaging/supply/supply.py sbom "$products/satchel" "$products/satchel-codec" "$products/satchel-stills" > .build/supply/satchel.json
.build/supply/bin/python - .build/supply/satchel.json <<'PYTHON'
import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = open(sys.argv[1], encoding="utf-8").read()
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
if fault:
    sys.exit(f"the SBOM is no CycloneDX 1.6: {fault}")
names = {component["name"] for component in json.loads(text)["components"]}
missing = {"libc6", "swift-nio", "grdb.swift", "swift-runtime", "tzdata"} - names
if missing or not any(name.startswith("libvips42") for name in names):
    sys.exit(f"the SBOM lacks {missing or 'libvips'}")
print(f"The SBOM has {len(names)} components.")
PYTHON
