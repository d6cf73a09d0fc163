#!/bin/sh
# Takes the pictures of the README: two samples as `satchel preview` shows them, in Chromium.
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
