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
failed=""
for target in "$@"; do
    parallel=--parallel
    case "$target" in SatchelTests | SatchelClientTests | ServeTests) parallel=--no-parallel ;; esac
    echo "== $target"
    "$swift" test --skip-build $parallel --filter "^$target\\." || failed="$failed $target"
done
if [ $all = yes ]; then
    echo "== schemathesis"
    ./Tests/schemathesis.sh .build/debug || failed="$failed schemathesis"
fi
if [ -n "$failed" ]; then
    echo "Failed:$failed" >&2
    exit 1
fi
echo "All tests passed."
