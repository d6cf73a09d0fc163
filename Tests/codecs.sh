#!/bin/sh
# Runs the codec side's tests that were built, in two processes: within one, what renders takes turns, as a codec process
# has one source at a time, so that one alone leaves half of two cores idle.
#
#   Tests/codecs.sh [build]
#
# `build` is where SwiftPM built them, .build if it isn't given.
set -u
cd "$(dirname "$0")/.." || exit
# The suites of clips, and those that share what they make of the samples: with Stopping, about half of the time.
clips='Audio|AudioCodec|Clip|ClipCap|ClipDamage|ClipPart|ClipRefusal|ClipSample|Container|CutPlan|Deinterlacing|EditList'
clips="$clips|CopyCheck|ExactCut|Forecast|FoundClip|FrameReader|ImageSamples|Ladder|LeftOut|OpenGOP|OutputSize|Poster"
clips="$clips|Privacy|SmartPlan|SmartTrim|StatedStream|Stopping|StreamClock|TakenClip|ToneMapping|Trim"
exec ./Tests/halves.sh "${1:-.build}/debug/satchelPackageTests.xctest" '^(GIFTests|CodecsTests)\.' "^CodecsTests\\.($clips)Tests/"
