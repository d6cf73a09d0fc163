#!/bin/sh
# Prepares every sample file as one directory, and compares the results with the manifest.
#
#   Media/demo-all.sh .build/release/satchel
#
# Media has damaged files too. The exit status is 0 if exactly those fail that the manifest names.
set -eu
satchel=${1:?usage: $0 SATCHEL}
cd "$(dirname "$0")/.."
case "$satchel" in /*) ;; *) satchel="./$satchel" ;; esac
export SATCHEL_STORE=.demo/store SATCHEL_ACCESS_KEYS=.demo/access.keys
mkdir -p .demo

echo "\$ satchel batch Media --output .demo/output"
status=0
"$satchel" batch Media --output .demo/output --report .demo/report.jsonl \
    --exclude '*.py' --exclude '*.sh' --exclude '*.md' --exclude 'manifest.json' --exclude 'notifications' --exclude '*__pycache__*' || status=$?
# 1 says that some were not delivered.
[ "$status" -le 1 ] || exit "$status"
echo
python3 Media/expected.py .demo/report.jsonl

echo
echo "The results are in .demo/output, such as these:"
find .demo/output -type f | sort | awk 'NR % 25 == 1' | head -n 5 | sed 's/^/  /'

echo
echo "Bytes of the sources and of their main results:"
python3 Media/sizes.py .demo/report.jsonl

echo
echo "These commands show a notification in a browser, with its actions and their handler. Ctrl-C ends them:"
echo
notifications=Media/notifications
echo "  $notifications/handler.py &"
echo "  $satchel preview $notifications/red.push.json --category $notifications/red.json \\"
echo "      --attach photo=Media/jpeg/coffee.jpg --handler http://127.0.0.1:8090/"
