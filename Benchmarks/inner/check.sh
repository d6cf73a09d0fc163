#!/usr/bin/env bash
# Counts the instructions of each inner piece with callgrind and compares them with thresholds.txt.
#
#   Benchmarks/inner/check.sh [--update] [inner-bench]
#
# Exit status 1 where a piece takes more than its threshold and tolerance; --update writes what was counted as the new
# thresholds. Under valgrind there are no SHA instructions: hash.sha256 counts the code for processors without them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
thresholds=${THRESHOLDS:-$here/thresholds.txt}
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
program=${1:-$root/.build/release/inner-bench}
[ -x "$program" ] || { echo "$program is missing: 'make bench-inner' builds it" >&2; exit 2; }
command -v valgrind >/dev/null || { echo "valgrind is missing: ./install-dependencies.sh check installs it" >&2; exit 2; }

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# valgrind 3.19 can't read the debug information that Swift writes.
strip -g -o "$place/inner-bench" "$program"
mkdir "$place/store"
if ! SWIFT_DETERMINISTIC_HASHING=1 VIPS_CONCURRENCY=1 timeout 600 \
    valgrind --quiet --tool=callgrind --instr-atstart=no --callgrind-out-file="$place/count" \
    "$place/inner-bench" pieces "$root/Media" "$place/store" >"$place/repetitions" 2>"$place/errors"; then
    cat "$place/errors" >&2
    echo "the pieces could not be counted" >&2
    exit 2
fi

# One file for each piece, named in its description; the last one is of the program's end.
for file in "$place"/count*; do
    sed -n -e 's/^desc: Trigger: Client Request: //p' -e 's/^totals: //p' "$file" | paste - -
done | awk 'NF == 2 { counted[$1] = $2 } END { for (piece in counted) print piece, counted[piece] }' >"$place/totals"
awk 'NR == FNR { total[$1] = $2; next }
    { if (!($1 in total)) exit 1; printf "%s %.0f\n", $1, total[$1] / $2 }' \
    "$place/totals" "$place/repetitions" >"$place/counted" || { echo "a piece was not counted" >&2; exit 2; }
[ -s "$place/counted" ] || { echo "nothing was counted" >&2; exit 2; }

# Its tables are the schema's, so that a change of the schema may need one of it.
mkdir "$place/copies"
"$program" store "$place/copies" 1000 1100 >/dev/null || { echo "a store of copies could not be asked" >&2; exit 2; }

if [ $update = yes ]; then
    {
        sed -n '/^#/p' "$here/thresholds.txt"
        # Each keeps its tolerance.
        awk 'NR == FNR { if (!/^#/) tolerance[$1] = $3; next }
            { printf "%-20s %12d %4d\n", $1, $2, $1 in tolerance ? tolerance[$1] : 10 }' "$here/thresholds.txt" "$place/counted"
    } >"$place/new"
    cp "$place/new" "$here/thresholds.txt"
fi

# A threshold without a piece, or a piece without a threshold, is as bad as one that is exceeded.
awk -v file="$thresholds" '
    BEGIN {
        while ((getline line < file) > 0) {
            if (split(line, field, " ") == 3 && line !~ /^#/) { limit[field[1]] = field[2]; tolerance[field[1]] = field[3] }
        }
        printf "%-20s %14s %14s %9s\n", "piece", "instructions", "threshold", "change"
    }
    !($1 in limit) { printf "%-20s %14d %14s            has no threshold\n", $1, $2, "-"; bad = 1; next }
    {
        change = ($2 / limit[$1] - 1) * 100
        verdict = ""
        if (change > tolerance[$1]) { verdict = "more than " tolerance[$1] " % over it"; bad = 1 }
        if (change < -tolerance[$1]) verdict = "below it: --update keeps what was gained"
        printf "%-20s %14d %14d %+8.1f%%  %s\n", $1, $2, limit[$1], change, verdict
        delete limit[$1]
    }
    END {
        for (piece in limit) { printf "%-20s was not counted\n", piece; bad = 1 }
        exit bad
    }' "$place/counted" || { echo "Inner pieces cost more than they may. Where that is meant: $0 --update" >&2; exit 1; }
