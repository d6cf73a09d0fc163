#!/bin/sh
# Runs libFuzzer on each target's corpus, one target after the other, under the address sanitizer.
#
#   Tests/Fuzz/fuzz.sh [--seconds N] [--keep] [TARGET ...]      all targets by default
#
# Without --seconds, the targets that read most run for half an hour each, the others for five minutes. A finding is a
# file in .build/fuzz/findings. It ends its target; the others go on.
#
# A corpus is an archive, Tests/Fuzz/corpora/TARGET.tar.xz. --keep replaces it with a minimized merge of its inputs and
# the new ones. To keep a finding, copy it to .build/fuzz/made/TARGET under a name that says what it shows, and pass --keep:
# inputs with such a name always stay.
#
# A target is an entry of FuzzTarget.all (Tests/Fuzz/Targets), or `huffman`, which is C and compares with libjpeg.
set -eu
cd "$(dirname "$0")/../.."
seconds=""
keep=no
while :; do
    case "${1:-}" in
        --seconds) seconds=$2; shift 2 ;;
        --keep) keep=yes; shift ;;
        *) break ;;
    esac
done
fuzz=.build/fuzz
mkdir -p "$fuzz/bin" "$fuzz/findings" "$fuzz/logs"
# Memory that is in use at the end isn't lost: libvips and GLib keep theirs.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1

huffman() {
    clang -g -O1 -fuse-ld=lld -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
        -ISources/Codec/CJPEG -ISources/Codec/CJPEG/include -ITests/Fuzz/huffman/include \
        Sources/Codec/CJPEG/*.c Tests/Fuzz/huffman/huffman.c -ljpeg -lm -o "$fuzz/bin/huffman"
}

# Everything else is one program, which goes by its name.
others() {
    SATCHEL_FUZZ=1 SATCHEL_TARGETS=satchel-fuzz "${SWIFT:-swift}" build --quiet --scratch-path "$fuzz/swift" \
        --sanitize address --sanitize fuzzer --product satchel-fuzz
    for name in $("$fuzz/swift/debug/satchel-fuzz" || true); do
        ln -sf ../swift/debug/satchel-fuzz "$fuzz/bin/$name"
    done
    Tests/Fuzz/seeds.py "$fuzz/seeds" >/dev/null
}

if [ "$*" = huffman ]; then
    huffman
elif [ $# -gt 0 ]; then
    others
    case " $* " in *" huffman "*) huffman ;; esac
else
    huffman
    others
    # shellcheck disable=SC2046
    set -- huffman $("$fuzz/swift/debug/satchel-fuzz" || true)
fi

# keep NAME: minimizes what NAME has read and found, and packs it. The same inputs make the same archive.
keep() {
    merged=$fuzz/merged/$1 archive=$PWD/Tests/Fuzz/corpora/$1.tar.xz
    rm -rf "$merged"
    mkdir -p "$merged"
    # libFuzzer names a file by its SHA-1. Any other name belongs to a finding.
    find "$fuzz/corpora/$1" "$fuzz/made/$1" -type f | grep -Ev '/[0-9a-f]{40}$' | xargs -r cp -t "$merged"
    SWIFT_DETERMINISTIC_HASHING=1 "$fuzz/bin/$1" -merge=1 -max_len=$limit \
        "$merged" "$fuzz/corpora/$1" "$fuzz/made/$1" "$fuzz/seeds/$1" >>"$fuzz/logs/$1" 2>&1
    (
        cd "$merged"
        export LC_ALL=C XZ_OPT=-9
        tar --create --xz --file "$archive" --format=ustar --mode=644 --mtime=@0 --owner=0 --group=0 --numeric-owner -- *
    )
    echo "$(find "$merged" -type f | wc -l) inputs are kept."
}

failed=""
limit=4096
for name in "$@"; do
    archive=Tests/Fuzz/corpora/$name.tar.xz corpus=$fuzz/corpora/$name made=$fuzz/made/$name
    dictionary=Tests/Fuzz/dictionaries/$name.dict
    case "$name" in
        huffman | gif | boxes | index | http | json) time=1800 ;;
        *) time=300 ;;
    esac
    rm -rf "$corpus"
    mkdir -p "$corpus" "$made" "$fuzz/seeds/$name"
    # A new target has no archive yet.
    [ ! -f "$archive" ] || tar --extract --file "$archive" --directory "$corpus"
    set -- -max_len=$limit -timeout=20 -rss_limit_mb=2048 "-artifact_prefix=$fuzz/findings/$name-"
    [ ! -f "$dictionary" ] || set -- "$@" "-dict=$dictionary"
    echo "== $name"
    if "$fuzz/bin/$name" "$@" -max_total_time="${seconds:-$time}" -print_final_stats=1 "$made" "$corpus" "$fuzz/seeds/$name" \
        >"$fuzz/logs/$name" 2>&1; then
        grep -E '^#[0-9]+.*DONE' "$fuzz/logs/$name" | tail -n 1
    else
        failed="$failed $name"
        grep -v '^#' "$fuzz/logs/$name" | head -n 60
    fi
    [ $keep = no ] || keep "$name"
done
[ -z "$failed" ] || {
    echo "Something is wrong with$failed: see $fuzz/findings" >&2
    exit 1
}
