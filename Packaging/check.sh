#!/bin/sh
# Builds the Debian package, has lintian judge it, and installs, runs and removes it under systemd in a fresh Debian.
#
#   Packaging/check.sh [.build/debug]      the directory that `swift build` wrote to
#
# Needs root, for systemd-nspawn. The first run fetches 250 MB of packages, which stay in .build/docker; later runs take about a
# minute. None may take 20.
set -eu
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
    exec sudo env PATH="$PATH" "$0" "$@"
fi
exec ./Tests/bounded.py 20 /usr/bin/python3 Packaging/check/check.py "${1:-.build/debug}"
