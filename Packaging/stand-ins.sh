#!/bin/sh
# Makes stand-ins for libraries that the codecs' libraries are linked with and Satchel never calls: documents, science, fonts,
# vector graphics, networks, screens, speech, encoders.
#
#   Packaging/stand-ins.sh .build/release
#
# The loader would map and bind all of them at each start of a codec (100 for libvips, 200 with FFmpeg), and every process for a
# source would have to copy the mappings. A stand-in is one library with the functions that the remaining libraries name. They do
# nothing. It is in satchel-stills.stand-ins and satchel-codec.stand-ins, beside the codec, under the name of each library that it
# replaces, and satchel starts the codec with that directory. Satchel blocks the formats that would call the libraries.
#
# If a library is upgraded to one that needs other functions, the codec does not start with its stand-ins, and satchel starts it
# without them. Stand-ins that are newer than the codec and its libraries are left alone.
set -eu
products=${1:?usage: $0 PRODUCTS}
script=$0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# Libraries of libvips.
pictures='gsf-1 fftw3 cfitsio matio OpenEXR[^.]* rsvg-2 cairo pango[a-z0-9]*-1\.0 fontconfig archive niftiio openslide poppler-glib
    Magick[A-Za-z]*-[^ ]*'
# Libraries of libavformat, libavcodec, libavfilter and libavutil. gme and openmpt stay, because FFmpeg asks them when it probes any
# format.
clips='xml2 chromaprint bluray gnutls rabbitmq rist srt-gnutls ssh-gcrypt ssh zmq zvbi rav1e SvtAv1Enc
    pocketsphinx sphinxbase lilv-0 rubberband mysofa flite[a-z0-9_]* bs2b placebo ass vidstab OpenCL freetype fribidi harfbuzz
    va va-drm va-x11 vdpau X11 drm mfx vpl x265 vorbisenc theoraenc mp3lame shine twolame xvidcore codec2'

# The libraries that a file names.
needed() {
    readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

make_for() { # program, libraries
    program=$products/$1
    directory=$program.stand-ins
    rm -rf "${work:?}"/*
    unneeded="^lib($(printf %s "$2" | tr -s ' \n' '|'))\.so"
    ldd "$program" 2>/dev/null | sed -n 's/^[[:space:]]*\(.* => \)\{0,1\}\(\/.*\/\)\([^ ]*\) (.*/\3 \2\3/p' > "$work/libraries"
    if [ -e "$directory/stand-in.so" ] && [ -s "$work/libraries" ]; then
        # The time of the inode, which an upgrade to files with older dates changes as well.
        # shellcheck disable=SC2185
        changed=$({ cut -d ' ' -f 2 "$work/libraries"; printf '%s\n' "$program" "$script"; } | tr '\n' '\0' |
            find -L -files0-from - -cnewer "$directory/stand-in.so")
        [ -n "$changed" ] || return 0
    fi
    rm -rf "$directory"
    if [ ! -s "$work/libraries" ] || ldd "$program" | grep -q 'not found'; then
        echo "$program can't be linked on this machine, and has no stand-ins" >&2
        return
    fi

    # What is left, and what it names.
    : > "$work/kept"
    echo "$program" > "$work/new"
    while [ -s "$work/new" ]; do
        cat "$work/new" >> "$work/kept"
        while read -r file; do needed "$file"; done < "$work/new" | sort -u > "$work/names"
        grep -E "$unneeded" "$work/names" >> "$work/unneeded" || true
        grep -vE "$unneeded" "$work/names" | while read -r name; do
            sed -n "s|^$name ||p" "$work/libraries"
        done | sort -u | grep -vxFf "$work/kept" > "$work/new" || true
    done
    sort -u -o "$work/unneeded" "$work/unneeded"
    while read -r file; do nm --dynamic --defined-only "$file" | sed 's/.* //; s/@.*//'; done < "$work/kept" | sort -u > "$work/defined"
    while read -r file; do nm --dynamic --undefined-only "$file" | sed -n 's/.* U //p'; done < "$work/kept" | sort -u |
        awk -F@ 'NR == FNR { defined[$1]; next } !($1 in defined)' "$work/defined" - > "$work/wanted"
    while read -r name; do
        nm --dynamic --defined-only --print-size "$(sed -n "s|^$name ||p" "$work/libraries")"
    done < "$work/unneeded" > "$work/offered"
    # libhwy times the clock for 3 ms as it is loaded, and only its benchmarks ask for the result.
    while read -r file; do
        nm --dynamic --defined-only "$file" | sed -n 's/.* T \(_ZN3hwy8platform15TimerResolutionEv@\)@*/\1/p'
    done < "$work/kept" | tee -a "$work/wanted" | sed 's/@.*//; s/^/0 T /' >> "$work/offered"

    # Functions that give 0, and data of zeros, under the versions by which they are asked for.
    mkdir "$work/stand-ins"
    awk -v code="$work/code.c" -v versions="$work/versions" '
        NR == FNR { name = $NF; sub(/@.*/, "", name); kind[name] = $(NF - 1); size[name] = NF == 4 ? "0x" $2 : 16; next }
        {
            split($1, part, "@")
            name = part[1]
            if (!(name in kind) || name in done) next
            done[name]
            if (kind[name] ~ /[BDRVG]/) printf "char %s[%s] __attribute__((aligned(16)));\n", name, size[name] > code
            else printf "long %s(void);\nlong %s(void) { return 0; }\n", name, name > code
            if (part[2] != "") named[part[2]] = named[part[2]] " " name ";"
        }
        END { for (version in named) printf "%s { global:%s };\n", version, named[version] > versions }
    ' "$work/offered" "$work/wanted"
    if [ ! -s "$work/code.c" ]; then
        echo "$program needs none of those libraries" >&2
        return
    fi
    set -- -shared -nostartfiles -O1 -fPIC -s -fno-builtin -Wl,-z,noseparate-code,-z,relro,--no-as-needed
    [ ! -s "$work/versions" ] || set -- "$@" -Wl,--version-script="$work/versions"
    cc "$@" -o "$work/stand-ins/stand-in.so" "$work/code.c"
    while read -r name; do ln -s stand-in.so "$work/stand-ins/$name"; done < "$work/unneeded"

    # By hand a codec says what it is; what can't be linked says what is missing, or which version.
    status=0
    LD_BIND_NOW=1 LD_LIBRARY_PATH=$work/stand-ins "$program" </dev/null >/dev/null 2>"$work/said" || status=$?
    if [ "$status" != 64 ] || grep -q stand-in "$work/said"; then
        echo "$program doesn't start with stand-ins, and has none: $(head -1 "$work/said")" >&2
        return
    fi
    cp -R "$work/stand-ins" "$directory"
    # Whoever the service runs as reads them, whatever the mask of who installs.
    chmod 755 "$directory"
    chmod 644 "$directory/stand-in.so"
    echo "$program: $(wc -l < "$work/kept") files are loaded, $(LD_LIBRARY_PATH='' ldd "$program" | wc -l) without stand-ins"
}

make_for satchel-stills "$pictures"
make_for satchel-codec "$pictures $clips"
