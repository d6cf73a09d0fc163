#!/bin/sh
# A short storm (Tests/System/storm): `make check` runs it, `make storm` a long one.
#
#   Tests/System/storm.sh [PROGRAM [option ...]]
set -eu
cd "$(dirname "$0")/../.."
satchel=${1:-.build/debug/satchel}
[ $# -eq 0 ] || shift
export PYTHONPATH=Tests/System
python3 -B -m unittest -q storm.tests.test_mutation
exec python3 -B -m storm --count "${SATCHEL_STORM:-240}" --seed "${SATCHEL_TEST_SEED:-1}" "$@" "$satchel"
