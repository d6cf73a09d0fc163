#!/bin/sh
# Runs the tests that were built, one part after the other.
#
#   Tests/run.sh [SET|PART ...]
#
# Tests/budgets.txt lists the parts of each set (`test`, `check`, `full`) with their budgets. A part is a test target or one
# of the names in `run_part` below. Without arguments: `test` and `check`.
#
# - Each part has the machine to itself, as some tests count processes, measure CPU time or wait for a deadline. Targets whose
#   tests disturb each other run them one by one, in two processes to keep both cores busy (Tests/halves.sh).
# - A part fails if it uses more than 1.5 times its budget of CPU seconds, or runs over its minutes. It takes a fraction of
#   these on two idle cores. A part that ran over is listed with the tests that had not finished.
# - The tests run without SwiftPM, which would plan the whole package again for each part.
# - Some tests mount file systems and open networks of their own. For users other than root the script makes a namespace.
#
# With SATCHEL_TEST_SELECTION=test a part leaves out what `make test` does.
# SATCHEL_TEST_BUILD is the directory that SwiftPM built in (.build). Tests that match SATCHEL_TEST_SKIP are left out.
# SATCHEL_TEST_PATIENCE multiplies the minutes and the budgets (Tests/sanitize.sh uses all three).
set -u
cd "$(dirname "$0")/.." || exit
if [ "$(id -u)" != 0 ] && [ -z "${SATCHEL_TESTS_APART:-}" ]; then
    apart() { unshare --user --map-root-user --mount -- "$@"; }
    if ! apart true; then
        echo "Some tests mount file systems, so they need user namespaces (sysctl kernel.unprivileged_userns_clone," \
            "kernel.apparmor_restrict_unprivileged_userns) or root." >&2
        exit 1
    fi
    export SATCHEL_TESTS_APART=1
    apart Tests/run.sh "$@"
    exit
fi
# Hundreds of stores are open at once.
# shellcheck disable=SC3045
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -H -n)"
[ $# -gt 0 ] || set -- test check
scratch=$(mktemp -d)
running=""
trap 'rm -r "$scratch"' EXIT
trap '[ -z "$running" ] || kill "$running"; exit 130' INT TERM HUP
failed=""
sweeps=sampled
[ "${SATCHEL_TESTS:-}" = full ] && sweeps=full
patience=${SATCHEL_TEST_PATIENCE:-1}
# A sweep over all cases is no longer the work that the budgets are for.
[ $sweeps = sampled ] || patience=$((patience * 4))

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

# run part command...: failures are kept, to be shown again at the end.
run() {
    name=$1
    shift
    # Parts that no set names (targets run one by one) have the time of any other.
    read -r budget minutes <<LINE
$(awk -v part="$name" '$2 == part { print $3, $4; found = 1; exit } END { if (!found) print 0, 15 }' Tests/budgets.txt)
LINE
    echo "== $name"
    start=$(date +%s)
    # Into a file: processes that inherit a pipe would keep its reader waiting.
    : >"$scratch/log"
    rm -f "$scratch/used"
    ./Tests/bounded.py --used "$scratch/used" $((minutes * patience)) "$@" >>"$scratch/log" 2>&1 &
    running=$!
    tail -n +1 -f -s 0.2 --pid="$running" "$scratch/log" &
    shown=$!
    wait "$running"
    status=$?
    running=""
    wait "$shown"
    used=$(cat "$scratch/used" 2>/dev/null || echo 0)
    if [ "$status" = 0 ] && [ "$budget" -gt 0 ] && [ $((used * 2)) -gt $((budget * patience * 3)) ]; then
        status=125
        echo "error: $name used $used CPU seconds; its budget in Tests/budgets.txt is $budget." | tee -a "$scratch/log"
    fi
    printf '%6d s %6d s %6d s  %s\n' $(($(date +%s) - start)) "$used" "$budget" "$name" >>"$scratch/times"
    [ $status = 0 ] && return
    failed="$failed $name"
    {
        echo "== of $name"
        grep -E '✘|Fatal error|^error: ' "$scratch/log" | head -n 12
        # After a crash the last lines are all there is.
        tail -n 3 "$scratch/log"
        [ $status != 124 ] || unfinished "$scratch/log"
    } >>"$scratch/failures"
}

build=${SATCHEL_TEST_BUILD:-.build}
tests=$build/debug/satchelPackageTests.xctest

# swift_tests part filter [option ...]
swift_tests() {
    part=$1
    filter=$2
    shift 2
    run "$part" "$tests" --testing-library swift-testing "$@" --filter "$filter" ${SATCHEL_TEST_SKIP:+--skip "$SATCHEL_TEST_SKIP"}
}

# suites_left_out folder...: the suites with tests that `make test` leaves out, as a pattern.
suites_left_out() {
    suites=$(grep -rlE '\.(needs|hasCases|inCheck)\(' "$@" --include='*Tests.swift' | sed 's|.*/||; s|\.swift$||' | paste -sd '|')
    echo "[./]($suites)/"
}

# About half of the time each.
samples='^SatchelTests\.SampleTests/'
shared='^(SatchelClientTests\.|ServeTests\.(SharedStoreTests|Cluster(Start|Backup)Tests|DividedRateTests|FiringTests)/)'
# Where all cases are tried, fewer run at once: they have limits of time, and a server of connections.
few=SATCHEL_TESTS=sampled
[ $sweeps = sampled ] || few=SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16

run_part() {
    case "$1" in
        CodecsTests) run "$1" ./Tests/codecs.sh "$build" ;;
        SatchelTests) run "$1" ./Tests/halves.sh "$tests" '^SatchelTests\.' "$samples" --no-parallel ;;
        ServeTests+SatchelClientTests)
            run "$1" ./Tests/halves.sh "$tests" '^(ServeTests|SatchelClientTests)\.' "$shared" --no-parallel
            ;;
        ServeTests | SatchelClientTests) swift_tests "$1" "^$1\\." --no-parallel ;;
        # What `make test` left out: see TestSelection in Tests/Support/TestSupport.
        rest)
            SATCHEL_TEST_SELECTION=rest
            swift_tests "$1" "$(suites_left_out Tests/Service/S3Tests Tests/Service/StoresTests Tests/Service/CodecPoolTests)"
            ;;
        rest+serve)
            SATCHEL_TEST_SELECTION=rest
            swift_tests "$1" "$(suites_left_out Tests/Service/ServeTests Tests/Service/SatchelTests Tests/Client)" --no-parallel
            ;;
        # The API's tests on PostgreSQL and a bucket.
        APITests+nodes)
            nodes='^APITests\.(CredentialsTests|EventStreamTests|NotificationTests)/'
            [ $sweeps = sampled ] || nodes='^APITests\.'
            run "$1" env SATCHEL_TEST_STORE=cluster "$few" "$tests" --testing-library swift-testing --filter "$nodes"
            ;;
        StoresTests)
            run "$1" env "$few" "$tests" --testing-library swift-testing --filter "^$1\\." \
                ${SATCHEL_TEST_SKIP:+--skip "$SATCHEL_TEST_SKIP"}
            ;;
        # A client made from the API's description, against the service.
        openapi-client) run "$1" ./Tests/System/openapi-client.sh .build/debug ;;
        # The service held to its description.
        schemathesis) run "$1" ./Tests/System/schemathesis.sh .build/debug ;;
        deployment) run "$1" ./Tests/System/deployment.sh .build/debug ;;
        # The benchmarks' own tests.
        benchmarks) run "$1" make bench-test ;;
        # The fuzzer of our Huffman decoder, for 15 seconds.
        huffman) run "$1" ./Tests/Fuzz/fuzz.sh --seconds 15 huffman ;;
        # Changed samples through a batch and a service.
        storm) run "$1" ./Tests/System/storm.sh .build/debug/satchel ;;
        # The soak's judge, and what it asks a store; `make soak` runs it whole.
        soak)
            run "$1" env PYTHONPATH=Tests/System SATCHEL=.build/debug/satchel python3 -B -m unittest -q soak.tests.test_judge soak.tests.test_samples
            ;;
        # Locks of packages, the list in SECURITY.md, the SBOM.
        supply) run "$1" ./Tests/supply.sh .build/debug ;;
        demo) run "$1" env PYTHONPATH=Tests/System SATCHEL=.build/debug/satchel python3 -B -m unittest -q demo.test_demo ;;
        demo-scaled) run "$1" python3 -B Media/demo-scaled.py .build/debug/satchel ;;
        # Nodes and clients while things break.
        history) run "$1" ./Tests/System/history.sh --seconds 90 .build/debug/satchel "${SATCHEL_TEST_SEED:-2}" ;;
        image) run "$1" ./Docker/check.sh .build/debug ;;
        documentation) run "$1" make documentation ;;
        *) swift_tests "$1" "^$1\\." ;;
    esac
}

selection=${SATCHEL_TEST_SELECTION:-}
began=$(date +%s)
for set in "$@"; do
    listed=$(awk -v set="$set" '$1 == set { print $2 }' Tests/budgets.txt)
    for entry in ${listed:-$set}; do
        export SATCHEL_TEST_SELECTION="$selection"
        [ "$set" != test ] || SATCHEL_TEST_SELECTION="test"
        run_part "$entry"
    done
done
echo "== wall time, CPU time, budget"
cat "$scratch/times"
awk '{ cpu += $3; budget += $5 } END { printf "%6d s %6d s %6d s  in all\n", '$(($(date +%s) - began))', cpu, budget }' "$scratch/times"
if [ -n "$failed" ]; then
    cut -c 1-400 "$scratch/failures" >&2
    echo "Failed:$failed" >&2
    exit 1
fi
echo "All tests passed."
[ $sweeps = full ] || echo "Sweeps were sampled: make test-full, or SATCHEL_TESTS=full, tries every case."
