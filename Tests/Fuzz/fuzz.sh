#!/bin/sh
# Gives each target what libFuzzer makes of its corpus, one target after the other, under the address sanitizer.
#
#   Tests/Fuzz/fuzz.sh [--seconds N] [--keep] [TARGET ...]      all targets, where none is named
#
# Without --seconds those that read most have half an hour each, the others five minutes. --keep takes what leads anywhere new into
# the corpora of the repository. A finding is a file in .build/fuzz/findings, and ends its target; the others go on.
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
        -ISources/CJPEG -ISources/CJPEG/include -ITests/Fuzz/huffman/include \
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

failed=""
for name in "$@"; do
    limit=4096
    case "$name" in
        huffman) corpus=Tests/Fuzz/huffman/corpus dictionary=Tests/Fuzz/huffman/markers.dict time=1800 ;;
        gif | boxes | index | http | json) corpus=Tests/Fuzz/corpora/$name dictionary=Tests/Fuzz/dictionaries/$name.dict time=1800 ;;
        *) corpus=Tests/Fuzz/corpora/$name dictionary=Tests/Fuzz/dictionaries/$name.dict time=300 ;;
    esac
    made=$fuzz/made/$name
    mkdir -p "$made" "$fuzz/seeds/$name"
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
    if [ $keep = yes ]; then
        "$fuzz/bin/$name" -merge=1 -max_len=$limit "$corpus" "$made" "$fuzz/seeds/$name" >>"$fuzz/logs/$name" 2>&1
    fi
done
[ -z "$failed" ] || {
    echo "Something is wrong with$failed: see $fuzz/findings" >&2
    exit 1
}
