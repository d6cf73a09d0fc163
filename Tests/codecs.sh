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
# The suites of clips, and those that share what they make of the samples: with Stopping, about half of the time. Whatever
# isn't named is the other half's, so that no test is left out.
clips='Audio|AudioCodec|Clip|ClipCap|ClipDamage|ClipPart|ClipRefusal|ClipSample|Container|CutPlan|Deinterlacing|EditList|\
Forecast|FoundClip|FrameReader|ImageSamples|Ladder|OpenGOP|OutputSize|Poster|Privacy|SmartPlan|SmartTrim|StatedStream|\
Stopping|ToneMapping|Trim'
half="^CodecsTests\\.($clips)Tests/"

"$tests" --testing-library swift-testing --filter "$half" &
beside=$!
trap 'kill "$beside"; exit 130' INT TERM HUP
"$tests" --testing-library swift-testing --filter '^(GIFTests|CodecsTests)\.' --skip "$half"
status=$?
wait "$beside" || status=$?
exit $status
