#!/bin/sh
# Takes the pictures of the README: two samples as `satchel preview` shows them, and the console, in Chromium.
#
#   Screenshots/take.sh SATCHEL
set -eu
satchel=$1
here=$(dirname "$0")
media=$here/../Media
log=$(mktemp)
preview=""
trap '[ -z "$preview" ] || kill "$preview" 2>/dev/null; rm -f "$log"' EXIT

# shot name
shot() {
    : >"$log"
    "$satchel" preview "$media/notifications/$1.push.json" --category "$media/notifications/$1.json" \
        --attach photo="$media/jpeg/coffee.jpg" >"$log" 2>&1 &
    preview=$!
    for _ in $(seq 100); do
        url=$(grep -o 'http://127[^ ]*' "$log" || true)
        [ -z "$url" ] || break
        sleep 0.1
    done
    [ -n "$url" ] || { cat "$log" >&2; exit 1; }
    # Of its own sandbox the browser says that root can't have one.
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,640 \
        --screenshot="$here/$1.png" "$url" 2>/dev/null
    kill -INT "$preview"
    wait "$preview" || true
    preview=""
}

shot red
shot green

# The console, of a service with something to show.
home=$(mktemp -d)
served=""
trap '[ -z "$preview" ] || kill "$preview" 2>/dev/null; [ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$log" "$home"' EXIT
export SATCHEL_STORE="$home/store" SATCHEL_ACCESS_KEYS="$home/access.keys" SATCHEL_CONFIG=""
"$satchel" serve --listen 127.0.0.1:0 --codecs 2 --fetch-allow 127.0.0.1 >"$log" 2>&1 &
served=$!
for _ in $(seq 100); do
    url=$(grep -o '"public_url":"[^"]*' "$log" | cut -d'"' -f4 || true)
    [ -z "$url" ] || break
    sleep 0.1
done
[ -n "$url" ] || { cat "$log" >&2; exit 1; }
SATCHEL_KEY=$(grep -o 'satk_[0-9A-Za-z]*' "$log" | head -1)

# job file ...: submits one with these, and waits; prints its id.
job() {
    parts=""
    attachments=""
    for file in "$@"; do
        name=$(basename "$file")
        attachments="$attachments${attachments:+, }{\"identifier\": \"$name\", \"part\": \"$name\"}"
        parts="$parts -F $name=@$media/$file"
    done
    # Words that fall apart where they are used.
    # shellcheck disable=SC2086
    curl -s -H "Authorization: Bearer $SATCHEL_KEY" -H "Prefer: wait=20" -F "job={\"attachments\": [$attachments]}" \
        $parts "$url/v1/jobs" | python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'
}

# page name path: the picture of a page of the console, with the cookie of the one before.
page() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,760 --user-data-dir="$home/browser" \
        --screenshot="$here/$1.png" "$url$2" 2>/dev/null
}

for file in jpeg/galaxies.jpg jpeg/rocket-portrait.jpg jpeg/earth-12-megapixels.jpg gif/film.gif trouble/empty.jpg \
    trouble/document.pdf trouble/archive.zip trouble/encrypted.mp4 trouble/header-only.png; do
    job "$file" >"$home/failed"
done
shown=$(job jpeg/coffee.jpg mp4/film.mp4)
link=$("$satchel" console)
page console-overview "/console/sign-in?code=${link#*code=}"
page console-failures /console/failures
page console-job "/console/jobs/$shown"
kill "$served"
wait "$served" || true
served=""
