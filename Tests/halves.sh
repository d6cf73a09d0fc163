#!/bin/sh
# Runs tests that were built in two processes side by side, where one would leave a core idle.
#
#   Tests/halves.sh bundle targets half [option ...]
#
# `targets` and `half` are regular expressions as `swift test --filter` takes them, `half` of what the one process runs;
# whatever else is among `targets` is the other's, so that no test is left out.
set -u
tests=$1
targets=$2
half=$3
shift 3

"$tests" --testing-library swift-testing "$@" --filter "$half" &
beside=$!
trap 'kill "$beside"; exit 130' INT TERM HUP
"$tests" --testing-library swift-testing "$@" --filter "$targets" --skip "$half"
status=$?
wait "$beside" || status=$?
exit $status
