#!/bin/sh
# Prints where axe-core is, which judges pages by WCAG: PyPI's axe-core-python, kept in .build/axe. Tests ask for it.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Tests/service.sh
. Tests/service.sh
install_tools "$PWD/.build/axe" axe-core-python==0.1.0
ls "$PWD"/.build/axe/lib/python3*/site-packages/axe_core_python/axe.min.js
