#!/bin/sh
# Runs a command that must end: without standard input, for a number of minutes at most, and with nothing of it left
# behind.
#
#   Tests/bounded.sh minutes command...
#
# The status is the command's, or 124 where it ran over, which is said.
set -u
minutes=$1
shift
# A session of its own, so that what is left of it is found, whatever groups its processes are in. A shell without job
# control lets what runs beside it ignore interrupts, which tests send to programs of theirs.
env --default-signal=INT,QUIT setsid timeout --kill-after=10 "${minutes}m" "$@" </dev/null &
session=$!
trap 'pkill -KILL --session "$session"; exit 130' INT TERM HUP
wait "$session"
status=$?
pkill -KILL --session "$session"
# timeout that had to kill is killed with its command.
[ $status = 137 ] && status=124
[ $status != 124 ] || echo "Ran over its $minutes minutes: $*" >&2
exit $status
