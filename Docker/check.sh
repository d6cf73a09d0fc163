#!/bin/sh
# Checks the image without a Docker engine: carries out the Dockerfile's runtime stage in a fresh Debian 12, puts in what
# was built, and runs it there as Docker would.
#
#   Docker/check.sh [.build/debug]      the directory that `swift build` wrote to
#
# Needs root, for chroot and mounts. The first run fetches 150 MB of packages (about 2 minutes), which stay in
# .build/docker; later runs take about a minute. None may take 20.
set -eu
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
    exec sudo "$0" "$@"
fi
exec ./Tests/bounded.sh 20 /usr/bin/python3 Docker/check/check.py "${1:-.build/debug}"
