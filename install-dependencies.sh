#!/bin/sh
# Installs what Satchel needs on Debian 12, from Debian's own packages. make, CI and the image share this script.
#
#   ./install-dependencies.sh build test    what building and testing need
#   ./install-dependencies.sh bench         what is measured beside
#   ./install-dependencies.sh run           what a built Satchel needs
#   ./install-dependencies.sh --list test   only prints the packages' names
#
# Does nothing where everything is there; otherwise it needs root, or sudo.
# Lists of packages are strings of words, which fall apart where they are used.
# shellcheck disable=SC2086
set -eu

build="build-essential pkg-config git make libvips-dev libavformat-dev libavcodec-dev libavfilter-dev
    libswscale-dev libswresample-dev libjpeg62-turbo-dev libmagic-dev libseccomp-dev
    libsqlite3-dev"
run="libvips42 libjpeg62-turbo libavformat59 libavcodec59 libavfilter8 libswscale6 libswresample4 libmagic1 libseccomp2
    libsqlite3-0 ca-certificates"
test="ffmpeg libvips-tools libimage-exiftool-perl gifsicle imagemagick strace iproute2 python3 python3-venv webp rsync
    libheif-examples libjxl-tools sqlite3 openssl valgrind procps shellcheck debootstrap nginx-light
    prometheus python3-prometheus-client python3-yaml python3-pil python3-numpy python3-pyte libavif-bin libopenh264-7
    zsh fish"
bench="ffmpeg libvips-tools gifsicle imagemagick graphicsmagick libjpeg-turbo-progs libjpeg-dev zlib1g-dev nginx-light wrk
    valgrind util-linux procps python3 python3-dev python3-venv python3-pil python3-numpy"

usage() {
    echo "usage: $0 [--list] build|run|test|bench ..." >&2
    exit 2
}

list=no
if [ "${1:-}" = --list ]; then
    list=yes
    shift
fi
[ $# -gt 0 ] || usage
packages=""
needs_swift=no
for group in "$@"; do
    case "$group" in
        build) packages="$packages $build"; needs_swift=yes ;;
        run) packages="$packages $run" ;;
        test) packages="$packages $test" ;;
        bench) packages="$packages $bench" ;;
        *) usage ;;
    esac
done
if [ "$list" = yes ]; then
    echo $packages
    exit 0
fi

missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "This system has no apt-get. Install the counterparts of these Debian packages:$missing" >&2
        exit 1
    fi
    sudo=""
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Run this as root, or install these packages:$missing" >&2
            exit 1
        fi
        sudo=sudo
    fi
    echo "Installing:$missing" >&2
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $missing >/dev/null
fi

if [ "$needs_swift" = yes ]; then
    if ! command -v swift >/dev/null; then
        cat >&2 <<'TEXT'
Swift is missing. Satchel is built with Swift 6.3:

  1. Download the toolchain for Debian 12 from https://www.swift.org/install/linux/
  2. Unpack it, for example into /opt/swift
  3. Put its usr/bin directory on the PATH, then run this again.
TEXT
        exit 1
    fi
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    set -- $version
    if [ "${1:-0}" -lt 6 ] || { [ "$1" -eq 6 ] && [ "${2:-0}" -lt 2 ]; }; then
        echo "Swift ${1:-?}.${2:-?} is too old; Satchel is built with Swift 6.3. See https://www.swift.org/install/linux/" >&2
        exit 1
    fi
fi
