#!/bin/sh
# The history test: nodes, clients and what breaks, once for each seed (Tests/System/history/__init__.py).
#
#   Tests/System/history.sh [--seconds 300] [--judge] SATCHEL SEED...
#
# Each run has a network, processes and a file system in memory of its own, so that nothing of it is left, however it ends. Whoever isn't root needs a namespace in
# which that user is root, as Tests/run.sh makes one.
set -eu
cd "$(dirname "$0")/../.."
options=""
while :; do
    case "${1:-}" in
        --seconds) options="$options --seconds $2"; shift 2 ;;
        --judge) options="$options --judge"; shift ;;
        *) break ;;
    esac
done
satchel=${1:?usage: $0 [--seconds S] [--judge] SATCHEL SEED...}
shift
# Who judges is judged first.
PYTHONPATH=Tests/System python3 -B -m unittest -q history.tests.test_checker
status=0
for seed in "$@"; do
    # shellcheck disable=SC2086
    PYTHONPATH=Tests/System unshare --net --mount --pid --fork --kill-child --mount-proc -- \
        sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec python3 -B -m history "$@"' history \
        $options "$satchel" "$seed" || status=1
done
exit $status
