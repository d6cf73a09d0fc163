# shellcheck shell=sh
# For scripts that try a running service: sourced by them, beside the root of the checkout.

# install_tools directory packages...: a virtual environment with these, made anew only where they are others.
install_tools() {
    tools=$1
    shift
    [ "$(cat "$tools/versions" 2>/dev/null)" = "$*" ] && return
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check "$@"
    echo "$*" >"$tools/versions"
}

# start_service products [option of 'satchel serve' ...]: sets url, home and SATCHEL_KEY (of an administrator); the service
# ends with the script.
start_service() {
    products=$1
    shift
    home=$(mktemp -d)
    service=""
    trap finish_service EXIT
    trap 'exit 130' INT TERM
    export SATCHEL_STORE="$home/store" SATCHEL_ACCESS_KEYS="$home/access.keys"
    SATCHEL_KEY=$("$products/satchel" key create --name tests --role admin --format json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])')
    export SATCHEL_KEY
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    url=http://127.0.0.1:$port
    "$products/satchel" serve --listen "127.0.0.1:$port" --codecs 2 "$@" >"$home/log" 2>&1 </dev/null &
    service=$!
    python3 - "$url" <<'PYTHON' || { cat "$home/log" >&2; exit 1; }
import sys, time, urllib.error, urllib.request
for _ in range(300):
    try:
        urllib.request.urlopen(sys.argv[1] + "/readyz", timeout=5)
        break
    except (urllib.error.URLError, OSError):
        time.sleep(0.1)
else:
    sys.exit("the service did not become ready")
PYTHON
}

finish_service() {
    if [ -n "$service" ]; then
        kill "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    fi
    rm -rf "$home"
}

# tell_of_service status: shows what the service said where the trial failed; ends the script where the service died.
tell_of_service() {
    kill -0 "$service" 2>/dev/null || {
        echo "the service died" >&2
        # What it said beside its log, of which the first thread is the one that crashed.
        grep -v '^{' "$home/log" | tail -n +4 | head -n 100 >&2
        exit 1
    }
    [ "$1" = 0 ] || { echo "--- the service's log, its end ---" >&2; tail -n 20 "$home/log" >&2; }
}
