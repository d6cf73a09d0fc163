#!/bin/sh
# Runs the codec side's tests that were built, in two processes: within one, what renders takes turns, as a codec process
# has one source at a time, so that one alone leaves half of two cores idle.
#
#   Tests/codecs.sh [build]
#
# `build` is where SwiftPM built them, .build if it isn't given.
set -u
cd "$(dirname "$0")/.." || exit
tests=${1:-.build}/debug/satchelPackageTests.xctest
# Suites that take about half of the time, those together that share what they make of the samples. Whatever isn't named
# is the other's, so that no test is left out.
half='^CodecsTests\.(TODO)/'

"$tests" --testing-library swift-testing --filter "$half" &
beside=$!
trap 'kill "$beside"' INT TERM HUP
"$tests" --testing-library swift-testing --filter '^(GIFTests|CodecsTests)\.' --skip "$half"
status=$?
wait "$beside" || status=$?
exit $status
