#!/bin/sh
# Puts what was built into the shape that the image has, as a tree to copy onto its root.
#
#   Docker/assemble.sh .build/release /image
#   Docker/assemble.sh .build/release /image .build-debian13/release    with the codecs that were built there
#   PREFIX=/usr Docker/assemble.sh .build/release /image                in place of /usr/local
#
# satchel and its codecs lie in one directory, with the parts of Swift's runtime that they need beside them:
# all look there first ($ORIGIN), so the tree needs no loader's configuration and runs wherever it is put.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$1
image=$2
codec=${3:-$built}/satchel-codec
stills=${3:-$built}/satchel-stills
prefix=$image${PREFIX:-/usr/local}
lib=$prefix/lib/satchel

mkdir -p "$lib" "$prefix/bin" "$image/usr/share/doc/satchel/licenses"
for program in "$built/satchel" "$codec" "$stills"; do
    strip -o "$lib/$(basename "$program")" "$program"
    chmod 755 "$lib/$(basename "$program")"
done
ln -sf ../lib/satchel/satchel "$prefix/bin/satchel"

# The toolchain's directory is where the programs themselves would look for it.
runtime=$(ldd "$built/satchel" "$codec" "$stills" | sed -n 's/.*libswiftCore\.so => \(.*\)\/libswiftCore\.so (.*/\1/p' | head -n 1)
ldd "$built/satchel" "$codec" "$stills" | sed -n "s|.* => \(${runtime:-/none}/.*\) (.*|\1|p" | sort -u |
    while read -r library; do
        strip --strip-unneeded -o "$lib/$(basename "$library")" "$library"
        chmod 644 "$lib/$(basename "$library")"
    done

"$here/../Packaging/stand-ins.sh" "$lib"

cp "$here/../LICENSE" "$image/usr/share/doc/satchel/LICENSE"
# The GPL wants them offered with satchel-codec.
tar --create --gzip --file "$image/usr/share/doc/satchel/satchel-sources.tar.gz" --directory "$here/.." \
    --owner 0 --group 0 Docker/assemble.sh Docker/runtime.sh LICENSE Makefile Packaging/progress.sh Packaging/stand-ins.sh Package.swift Sources install-dependencies.sh
for checkout in "$here"/../.build/checkouts/*/; do
    name=$(basename "$checkout")
    for file in "$checkout"LICENSE* "$checkout"NOTICE*; do
        [ -f "$file" ] || continue
        cp "$file" "$image/usr/share/doc/satchel/licenses/$name-$(basename "$file")"
    done
done
