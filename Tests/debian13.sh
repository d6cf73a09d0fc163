#!/bin/sh
# Runs a command on Debian 13, with these sources and this machine's Swift, in a root that debootstrap makes.
#
#   Tests/debian13.sh swift build --product satchel-codec
#   Tests/debian13.sh Media/demo-all.sh /mnt/built/debug/satchel
#
# There `.build` is what is `.build-debian13` here, and `/mnt/built` is `.build` here. Variables that begin with SATCHEL_ are
# handed on. Needs root, for chroot and mounts; the packages (about 3 minutes) stay in .build/docker.
set -eu
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
    exec sudo --preserve-env env PATH="$PATH" "$0" "$@"
fi
[ $# -gt 0 ] || { echo "usage: $0 command..." >&2; exit 2; }
exec /usr/bin/python3 Docker/check/builder.py "$@"
