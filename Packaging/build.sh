#!/bin/sh
# Packs built programs as a Debian package for this machine's release of Debian.
#
#   Packaging/build.sh .build/release .build/deb
#
# The man pages are in .build/man, written by Packaging/man.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$1
target=$2
work=$target/satchel
image=$work/image
share=$image/usr/share

rm -rf "$target"
mkdir -p "$work"
cp -R "$here/debian" "$work/debian"
cp -R "$here/../.build/man" "$work/man"
PREFIX=/usr "$here/../Docker/assemble.sh" "$built" "$image"
# The copyright file of the package includes the license.
rm "$share/doc/satchel/LICENSE"
for program in satchel satchel-codec satchel-stills; do
    # Removes the path of this machine's toolchain.
    # shellcheck disable=SC2016
    chrpath --replace '$ORIGIN' "$image/usr/lib/satchel/$program" >/dev/null
done
mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
# The files only define functions, so they need no interpreter line.
completions() {
    "$image/usr/bin/satchel" --generate-completion-script "$1" | sed '1{/^#!/d}'
}
completions bash > "$share/bash-completion/completions/satchel"
completions zsh > "$share/zsh/vendor-completions/_satchel"
completions fish > "$share/fish/vendor_completions.d/satchel.fish"
cd "$work"
dpkg-buildpackage --build=binary --no-sign
