#!/bin/sh
# Runs the tests that were built, one part after the other.
#
#   Tests/run.sh [part ...]
#
# A part is a test target, `openapi-client` (the service used by a client that is made of its description), `schemathesis`
# (the service held to it), `benchmarks` (their own tests), `huffman` (its fuzzer, for 15 seconds), `storm` (changed samples:
# Tests/System/storm), `soak` (its judge alone: `make soak` runs it), `supply` (the locks, the list in
# SECURITY.md, the SBOM), `demo-scaled` (what `make demo-scaled` shows, with all samples), `history` (nodes, clients and what
# breaks: Tests/System/history.sh), or a set
# of these: `test` is what a contributor runs, `check` what takes longer. Both, where none is named.
#
# Each part has the machine to itself: some count processes, measure CPU time or wait for a deadline, and a test that
# waits for a program would keep them from running. Where tests of one target would disturb each other so, they run one
# by one; such a target leaves a core idle, so the one of the command line runs in two processes, and those of the service
# and of its client, as `ServeTests+SatchelClientTests`, in two as well. The codec side's share nothing and take long: they run in
# two processes (Tests/codecs.sh), with GIF's among them.
#
# The tests are run as they were built, without SwiftPM, which would plan the whole package for each part anew.
#
# SATCHEL_TEST_BUILD is where SwiftPM built them, .build if it isn't given; what matches SATCHEL_TEST_SKIP is left out, as `swift test
# --skip` has it; SATCHEL_TEST_PATIENCE multiplies the minutes (Tests/sanitize.sh has all three).
#
# Some mount file systems and open networks of their own. Whoever isn't root gets namespaces for that, in which that user is root and
# has rights over nothing else.
#
# Each has minutes, too, of which it takes a fraction on two idle cores. What runs over is ended and named, with the tests
# that it had not finished.
set -u
cd "$(dirname "$0")/.." || exit
if [ "$(id -u)" != 0 ] && [ -z "${SATCHEL_TESTS_APART:-}" ]; then
    apart() { unshare --user --map-root-user --mount -- "$@"; }
    if ! apart true; then
        echo "Some tests mount file systems: run them where users may have namespaces (sysctl" \
            "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), or as root." >&2
        exit 1
    fi
    export SATCHEL_TESTS_APART=1
    apart Tests/run.sh "$@"
    exit
fi
# Hundreds of stores are open at once; a user's 1,024 files are too few.
# shellcheck disable=SC3045
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -H -n)"
[ $# -gt 0 ] || set -- test check
parts=""
for part in "$@"; do
    case "$part" in
        test)
            parts="$parts SatchelCoreTests PlatformTests PayloadsTests CodecsTests PostgresTests StoresTests S3Tests IngestTests
                CodecPoolTests
                JobsTests HTTPServerTests APITests ServeTests+SatchelClientTests SatchelTests"
            ;;
        check) parts="$parts DurabilityTests openapi-client schemathesis deployment benchmarks FuzzTests huffman storm soak supply demo-scaled history" ;;
        *) parts="$parts $part" ;;
    esac
done
scratch=$(mktemp -d)
part=""
trap 'rm -r "$scratch"' EXIT
trap '[ -z "$part" ] || kill "$part"; exit 130' INT TERM HUP
failed=""
sweeps=sampled
[ "${SATCHEL_TESTS:-}" = full ] && sweeps=full

# unfinished log: the tests and test cases that began and didn't end, the last of them last.
unfinished() {
    awk '/^[^ ]+ Test .* started\.$/ { sub(/^[^ ]+ Test /, ""); sub(/ started\.$/, ""); begun[$0] = NR; next }
        /^[^ ]+ Test .* (passed|failed|skipped)/ {
            sub(/^[^ ]+ Test /, ""); sub(/ (passed after|failed after|skipped).*/, ""); sub(/ with [0-9]+ test cases?$/, "")
            delete begun[$0]
        }
        END { delete begun["run"]; for (name in begun) print begun[name] "\t" name }' "$1" |
        sort -n | tail -n 12 | cut -f 2- | sed 's/^/not finished: /'
}

# processors: the seconds that all of this machine's processors have worked since it started.
processors() {
    awk -v hertz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%d\n", ($2 + $3 + $4 + $7 + $8) / hertz; exit }' /proc/stat
}

# run name minutes command...: what failed is kept, to be said again at the end.
run() {
    name=$1
    minutes=$(($2 * ${SATCHEL_TEST_PATIENCE:-1}))
    shift 2
    echo "== $name"
    start=$(date +%s)
    before=$(processors)
    # Into a file: a pipe's reader would wait for whoever inherited the pipe.
    : >"$scratch/log"
    ./Tests/bounded.sh "$minutes" "$@" >>"$scratch/log" 2>&1 &
    part=$!
    tail -n +1 -f -s 0.2 --pid="$part" "$scratch/log" &
    shown=$!
    wait "$part"
    status=$?
    part=""
    wait "$shown"
    # A part that takes as long as it keeps a processor busy leaves the other one idle.
    printf '%6d s %6d s  %s\n' $(($(date +%s) - start)) $(($(processors) - before)) "$name" >>"$scratch/times"
    [ $status = 0 ] && return
    failed="$failed $name"
    {
        echo "== of $name"
        grep -E '✘|Fatal error|^error: ' "$scratch/log" | head -n 12
        # Where a process ended there is no more than what it said last.
        tail -n 3 "$scratch/log"
        [ $status != 124 ] || unfinished "$scratch/log"
    } >>"$scratch/failures"
}

build=${SATCHEL_TEST_BUILD:-.build}
tests=$build/debug/satchelPackageTests.xctest
# What of the API's tests is run on PostgreSQL and a bucket as well: where all cases are tried, all of them.
nodes='^APITests\.(EventStreamTests|NotificationTests)/'
[ $sweeps = sampled ] || nodes='^APITests\.'
# Of what uses servers, so many cases at once where all are tried: they have limits of time, and a server of connections.
few=SATCHEL_TESTS=sampled
[ $sweeps = sampled ] || few=SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16
# About half of the time each.
samples='^SatchelTests\.SampleTests/'
shared='^(SatchelClientTests\.|ServeTests\.(SharedStoreTests|Cluster(Start|Backup)Tests|DividedRateTests|FiringTests)/)'

for name in $parts; do
    minutes=15
    [ "$name" != SatchelTests ] || minutes=20
    case "$name" in
        CodecsTests)
            [ $sweeps = sampled ] || minutes=30
            run "$name" $minutes ./Tests/codecs.sh "$build"
            ;;
        openapi-client) run "$name" 5 ./Tests/System/openapi-client.sh .build/debug ;;
        benchmarks) run "$name" 10 make bench-test ;;
        history) run "$name" 15 ./Tests/System/history.sh --seconds 60 .build/debug/satchel "${SATCHEL_TEST_SEED:-1}" ;;
        demo-scaled) run "$name" 5 python3 -B Media/demo-scaled.py .build/debug/satchel ;;
        schemathesis) run "$name" 15 ./Tests/System/schemathesis.sh .build/debug ;;
        deployment) run "$name" 5 ./Tests/System/deployment.sh .build/debug ;;
        huffman) run "$name" 5 ./Tests/Fuzz/fuzz.sh --seconds 15 huffman ;;
        storm) run "$name" 10 ./Tests/System/storm.sh .build/debug/satchel ;;
        soak) run "$name" 5 env PYTHONPATH=Tests/System python3 -B -m unittest -q soak.tests.test_judge ;;
        supply) run "$name" 5 ./Tests/supply.sh .build/debug ;;
        SatchelTests) run "$name" $minutes ./Tests/halves.sh "$tests" '^SatchelTests\.' "$samples" --no-parallel ;;
        ServeTests+SatchelClientTests)
            run "$name" $minutes ./Tests/halves.sh "$tests" '^(ServeTests|SatchelClientTests)\.' "$shared" --no-parallel
            ;;
        ServeTests | SatchelClientTests)
            run "$name" $minutes "$tests" --testing-library swift-testing --no-parallel --filter "^$name\\."
            ;;
        APITests)
            run "$name" $minutes "$tests" --testing-library swift-testing --filter "^$name\\."
            run "$name+nodes" "$minutes" env SATCHEL_TEST_STORE=cluster "$few" "$tests" --testing-library swift-testing --filter "$nodes"
            ;;
        StoresTests)
            [ $sweeps = sampled ] || minutes=30
            run "$name" $minutes env "$few" "$tests" --testing-library swift-testing --filter "^$name\\." \
                ${SATCHEL_TEST_SKIP:+--skip "$SATCHEL_TEST_SKIP"}
            ;;
        *)
            run "$name" $minutes "$tests" --testing-library swift-testing --filter "^$name\\." \
                ${SATCHEL_TEST_SKIP:+--skip "$SATCHEL_TEST_SKIP"}
            ;;
    esac
done
echo "== seconds, and those of processors"
cat "$scratch/times"
if [ -n "$failed" ]; then
    cut -c 1-400 "$scratch/failures" >&2
    echo "Failed:$failed" >&2
    exit 1
fi
echo "All tests passed."
[ $sweeps = full ] || echo "Sweeps were sampled: make test-full, or SATCHEL_TESTS=full, tries every case."
