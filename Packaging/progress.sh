#!/bin/sh
# Runs a command with its output in a file, and shows one line of progress.
#
#   Packaging/progress.sh LOG TITLE COMMAND...
#
# On a terminal the line has the title, the time and what the command said last. Elsewhere the title is printed once a minute.
# If the command fails, its errors and the name of the log are printed, and the exit status is the command's.
set -eu
log=$1
title=$2
shift 2
mkdir -p "$(dirname "$log")"
start=$(date +%s)
"$@" >"$log" 2>&1 </dev/null &
command=$!
# The shell lets a command in the background ignore Ctrl-C.
trap 'kill "$command" 2>/dev/null; wait "$command" || true; clear_line; exit 130' INT TERM HUP

terminal=no
[ ! -t 1 ] || terminal=yes

clear_line() {
    [ $terminal = no ] || printf '\r\033[K'
}

shown=0
while kill -0 "$command" 2>/dev/null; do
    seconds=$(($(date +%s) - start))
    line="$title, $((seconds / 60)) min $((seconds % 60)) s"
    if [ $terminal = yes ]; then
        # Without control characters, and short enough to stay on one line.
        last=$(tail -n 1 "$log" | tr -cd '[:print:]')
        columns=$(stty size 2>/dev/null </dev/tty | cut -d ' ' -f 2) || columns=""
        printf '\r\033[K%s' "$(printf '%s  %s' "$line" "$last" | cut -c "1-$((${columns:-80} - 1))")"
    elif [ "$seconds" -ge $((shown + 60)) ]; then
        shown=$seconds
        echo "$line"
    fi
    # What is up to date takes no second.
    if [ "$seconds" -lt 5 ]; then sleep 0.2; else sleep 1; fi
done
status=0
wait "$command" || status=$?
clear_line
[ "$status" != 0 ] || exit 0
{
    grep -E '(^|: )(fatal )?error: ' "$log" | sort -u | head -n 10 | grep . || tail -n 5 "$log"
    echo "$title failed. $log has the whole output."
} >&2
exit "$status"
