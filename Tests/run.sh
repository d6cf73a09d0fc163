#!/bin/sh
# Runs the tests that were built, one target after the other.
#
#   Tests/run.sh [swift] [target ...]
#
# Each target has the machine to itself: some count processes, measure CPU time or wait for a deadline, and a test that
# waits for a program would keep them from running. Where tests of one target would disturb each other so, they run one
# by one. Where no target is named, the service is held to its description at the end.
set -u
cd "$(dirname "$0")/.." || exit
swift=${1:-swift}
[ $# -gt 0 ] && shift
all=no
[ $# -gt 0 ] || all=yes
[ $all = no ] || set -- AttachmentsTests PayloadsTests CodecsTests StoresTests FetchingTests IsolationTests APITests \
    SatchelClientTests ServeTests DurabilityTests SatchelTests
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
failed=""

# run name command...: what failed is kept, to be said again at the end.
run() {
    name=$1
    shift
    echo "== $name"
    { "$@"; echo $? >"$scratch/status"; } 2>&1 | tee "$scratch/log"
    [ "$(cat "$scratch/status")" = 0 ] && return
    failed="$failed $name"
    {
        echo "== of $name"
        grep -E '✘|Fatal error|^error: ' "$scratch/log" | head -n 12
        # Where a process ended there is no more than what it said last.
        tail -n 3 "$scratch/log"
    } >>"$scratch/failures"
}

for target in "$@"; do
    parallel=--parallel
    case "$target" in SatchelTests | SatchelClientTests | ServeTests) parallel=--no-parallel ;; esac
    run "$target" "$swift" test --skip-build $parallel --filter "^$target\\."
done
[ $all = no ] || run schemathesis ./Tests/schemathesis.sh .build/debug
if [ -n "$failed" ]; then
    cut -c 1-400 "$scratch/failures" >&2
    echo "Failed:$failed" >&2
    exit 1
fi
echo "All tests passed."
