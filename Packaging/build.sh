#!/bin/sh
# Builds the Debian package of what was built, for this machine's release of Debian.
#
#   Packaging/build.sh .build/release .build/deb
#
# The man pages come from .build/man: Packaging/man.sh.
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
# Their licence stands in the package's file of copyrights.
rm "$share/doc/satchel/LICENSE"
for program in satchel satchel-codec satchel-stills; do
    # Not also where this machine's toolchain is.
    # shellcheck disable=SC2016
    chrpath --replace '$ORIGIN' "$image/usr/lib/satchel/$program" >/dev/null
done
mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
# Files of functions, which nobody runs.
completions() {
    "$image/usr/bin/satchel" --generate-completion-script "$1" | sed '1{/^#!/d}'
}
completions bash > "$share/bash-completion/completions/satchel"
completions zsh > "$share/zsh/vendor-completions/_satchel"
completions fish > "$share/fish/vendor_completions.d/satchel.fish"
cd "$work"
dpkg-buildpackage --build=binary --no-sign
