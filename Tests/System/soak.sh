#!/bin/sh
# The soak: mixed work for 45 minutes while one thing after the other breaks (Tests/System/soak/__init__.py). `make soak` runs it.
#
#   Tests/System/soak.sh [--minutes 45] [--pause 180] [--seed 1] [--core 0] [--plot FILE] [--judge] SATCHEL
#
# Its processes and its disk, in memory, are its own, so that nothing of it is left, however it ends. Whoever isn't root needs a namespace in
# which that user is root, as Tests/run.sh makes one.
set -eu
cd "$(dirname "$0")/../.."
export PYTHONPATH=Tests/System
# Who judges is judged first.
python3 -B -m unittest -q soak.tests.test_judge
exec unshare --mount --pid --fork --kill-child --mount-proc -- \
    sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec python3 -B -m soak "$@"' soak "$@"
