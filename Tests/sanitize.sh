#!/bin/sh
# Runs tests that were built for a sanitizer, which has to be silent: `make sanitize` and `make sanitize-threads` build and run them.
#
#   Tests/sanitize.sh address|thread [TARGET ...]
#
# What is reported and is no fault of ours is in Tests/sanitize/address.txt and thread.txt, and tests that can't run under the thread
# sanitizer are in unfit.txt: each line with its reason before it. What it can't see of Swift's Mutex it is told by mutex.c. Other options
# are taken from ASAN_OPTIONS and TSAN_OPTIONS.
set -eu
cd "$(dirname "$0")/.."
kind=${1:?usage: $0 address|thread [TARGET ...]}
shift
case $kind in
    address)
        build=.build-asan
        # What libraries keep until the end is no leak; a file may ask for more memory than there is.
        export ASAN_OPTIONS="suppressions=$PWD/Tests/sanitize/address.txt:detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
        [ $# -gt 0 ] || set -- CodecsTests
        ;;
    thread)
        build=.build-tsan
        export TSAN_OPTIONS="suppressions=$PWD/Tests/sanitize/thread.txt:${TSAN_OPTIONS:-}"
        SATCHEL_TEST_SKIP=$(grep -v -e '^#' -e '^$' Tests/sanitize/unfit.txt | paste -sd '|')
        export SATCHEL_TEST_SKIP
        # Several times as slow, tests would run over their limits if all of a target's ran at once.
        export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4
        # In the address space that a codec has a sanitizer has no room: codecs are those of the ordinary build.
        export SATCHEL_TEST_PROGRAMS="$PWD/.build/debug"
        [ $# -gt 0 ] || set -- PlatformTests IngestTests HTTPServerTests StoresTests S3Tests JobsTests APITests
        mutex=$PWD/$build/mutex.so
        control=$build/mutex
        clang -shared -fPIC -O1 -Wall -Wextra -Werror Tests/sanitize/mutex.c -o "$mutex" -ldl
        swiftc -swift-version 6 -g -sanitize=thread Tests/sanitize/mutex.swift -o "$control" >/dev/null
        # The sanitizer ends what it reported of with this status.
        reported=66
        status=0
        "$control" >"$control.log" 2>&1 || status=$?
        [ $status = $reported ] || {
            echo "The thread sanitizer understands Swift's Mutex by now (or $control doesn't run: $control.log): mutex.c can go." >&2
            exit 1
        }
        LD_PRELOAD=$mutex "$control" >"$control.log" 2>&1 || {
            echo "Tests/sanitize/mutex.c doesn't take hold of Swift's Mutex: $control.log" >&2
            exit 1
        }
        status=0
        LD_PRELOAD=$mutex "$control" race >"$control.log" 2>&1 || status=$?
        [ $status = $reported ] || {
            echo "With Tests/sanitize/mutex.c the thread sanitizer misses a race: $control.log" >&2
            exit 1
        }
        export LD_PRELOAD="$mutex"
        ;;
    *)
        echo "usage: $0 address|thread [TARGET ...]" >&2
        exit 2
        ;;
esac
SATCHEL_TEST_BUILD=$build SATCHEL_TEST_PATIENCE=4 ./Tests/run.sh "$@"
echo "The $kind sanitizer is silent."
