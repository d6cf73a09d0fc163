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
# 1 says that some were not delivered; anything else is trouble.
[ "$status" -le 1 ] || exit "$status"
echo
python3 Media/expected.py .demo/report.jsonl

echo
echo "The renditions lie in .demo/output, such as these:"
find .demo/output -type f | sort | awk 'NR % 25 == 1' | head -n 5 | sed 's/^/  /'

id=$("$satchel" list --state delivered --kind image --limit 1 --format csv 2> /dev/null | tail -n 1 | cut -d , -f 1)
echo
echo "A lease opens one of them, and only as long as you let it:"
echo
echo "\$ satchel lease $id"
"$satchel" lease "$id" > .demo/lease 2> .demo/hint
sed 's/\(satl_...\).*/\1…/' .demo/lease
lease=$(sed -n 's/^lease *//p' .demo/lease)
token=$(sed -n 's/^token *//p' .demo/lease)
rm -f .demo/lease .demo/hint .demo/opened.jpg
echo
echo "\$ satchel get --lease satl_… --output .demo/opened.jpg"
printf '%s\n' "$token" | "$satchel" get --lease - --output .demo/opened.jpg
echo "  $(wc -c < .demo/opened.jpg) bytes in .demo/opened.jpg"
echo "\$ satchel revoke $lease"
"$satchel" revoke "$lease"
echo "\$ satchel get --lease satl_…"
printf '%s\n' "$token" | "$satchel" get --lease - > /dev/null 2> .demo/refusal && exit 1
sed 's/^/  /' .demo/refusal
rm -f .demo/refusal

echo
echo "And what they weigh, each main rendition beside its source:"
python3 Media/sizes.py .demo/report.jsonl

echo
echo "A notification in a browser, with its actions and who answers them; Ctrl-C ends it:"
echo
notifications=Media/notifications
echo "  $notifications/handler.py &"
echo "  $satchel preview $notifications/red.push.json --category $notifications/red.json \\"
echo "      --attach photo=Media/jpeg/coffee.jpg --handler http://127.0.0.1:8090/"
