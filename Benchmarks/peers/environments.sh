#!/bin/sh
# Makes virtual environments from the pinned files in requirements/: bench, in which the benchmarks run, and those that hold the
# peers from PyPI: system (on the system's libvips), newest (libvips as pyvips-binary brings it), simd (Pillow-SIMD, compiled
# here), thumbor.
#
#   Benchmarks/peers/environments.sh .bench [name ...]
#
# Does nothing where everything is there. What can't be had is named, and measured as missing.
set -u

here=$(dirname "$0")
place=${1:?usage: environments.sh DIRECTORY [NAME ...]}/venv
shift
[ $# -gt 0 ] || set -- bench system newest simd thumbor
mkdir -p "$place"

for name in "$@"; do
    wanted=$here/requirements/$name.txt
    made=$place/$name/requirements.txt
    cmp -s "$wanted" "$made" && continue
    echo "Making the virtual environment '$name'" >&2
    rm -rf "${place:?}/$name"
    /usr/bin/python3 -m venv "$place/$name" || continue
    pip=$place/$name/bin/pip
    options=""
    if [ "$name" = simd ]; then
        # Without AVX2 Pillow-SIMD is compiled for SSE4.
        grep -q -w avx2 /proc/cpuinfo && export CC="cc -mavx2"
        "$pip" install -q --disable-pip-version-check -r "$here/requirements/build.txt" || continue
        options="--no-build-isolation --no-binary pillow-simd"
    else
        unset CC
    fi
    # shellcheck disable=SC2086
    "$pip" install -q --disable-pip-version-check --no-deps $options -r "$wanted"
    made_all=$?
    # pyvips and pyvips-binary bring a module of the same name: that of the latter is wanted.
    if [ $made_all = 0 ] && [ "$name" = newest ]; then
        binary=$(grep '^pyvips-binary' "$wanted")
        "$pip" install -q --disable-pip-version-check --no-deps --force-reinstall "$binary"
        made_all=$?
    fi
    if [ $made_all = 0 ]; then
        cp "$wanted" "$made"
    else
        echo "'$name' could not be made; its peers will have no figures" >&2
        rm -rf "${place:?}/$name"
    fi
done
exit 0
