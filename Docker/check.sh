#!/bin/sh
# Checks the image without a Docker engine: carries out the Dockerfile's runtime stage in a fresh Debian 13, puts in what
# was built, with the codecs built there too, and runs it as Docker would.
#
#   Docker/check.sh [.build/debug]      the directory that `swift build` wrote to
#
# Needs root, for chroot and mounts. The first run fetches 350 MB of packages and builds the codecs (about 5 minutes),
# which stay in .build/docker and .build-debian13; later runs take about a minute. None may take 20.
set -eu
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
    exec sudo env PATH="$PATH" "$0" "$@"
fi
exec ./Tests/bounded.py 20 /usr/bin/python3 Docker/check/check.py "${1:-.build/debug}"
