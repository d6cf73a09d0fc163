#!/bin/sh
# Writes the man pages of a program, a page for each command, named so that `man satchel add` finds its own.
#
#   Packaging/man.sh .build/release/satchel .build/man
#
# ArgumentParser's generator writes them, which `swift build --product generate-manual` puts beside the program. Its pages have names
# with spaces, which whatis cannot read, and empty lines, which groff reports; and it fills examples as text.
set -eu
program=$1
target=$2
generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
rm -rf "$target"
mkdir -p "$target"
"$(dirname "$program")/generate-manual" "$program" --multi-page --output-directory "$generated"
for page in "$generated"/*.1; do
    name=$(basename "$page" .1)
    dashed=$(printf %s "$name" | tr . -)
    spaced=$(printf %s "$name" | tr . ' ')
    awk -v dashed="$dashed" -v spaced="$spaced" '
        # Examples stay as they are.
        /^  / && !literal { literal = 1; print ".Bd -literal -compact" }
        !/^  / && literal { literal = 0; print ".Ed" }
        /^\.Dt / { print ".Dt " toupper(dashed) " 1"; next }
        /^\.Nm / && !named { named = 1; print ".Nm " dashed; next }
        /^\.Nd / { sub(/^\.Nd "/, ".Nd "); sub(/\.?"$/, "") }
        /^\.Sh / { heading = 1 }
        # With what the page began with it would show the name of the page.
        /^\.Nm$/ { print ".Nm \"" spaced "\""; next }
        /^\.Xr / { gsub(/\./, "-", $2); print ".Xr " $2 " " $3 " " $4; next }
        /^$/ { if (!heading) print ".Pp"; next }
        { if (!/^\.Sh /) heading = 0; sub(/^\047/, "\\\\\\&\047"); print }
        END { if (literal) print ".Ed" }
    ' "$page" > "$target/$dashed.1"
done
