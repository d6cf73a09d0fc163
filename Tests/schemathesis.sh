#!/bin/sh
# Holds a running service to its description, with requests that nobody would think of: `make test` runs it.
#
#   Tests/schemathesis.sh [products] [option of 'schemathesis run' ...]
#
# Any finding fails. The tool and what it needs are kept in .build/schemathesis.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
products=$(realpath "${1:-.build/debug}")
[ $# -eq 0 ] || shift
tools=$root/.build/schemathesis
versions="schemathesis==4.32.5 openapi-spec-validator==0.9.0"

if [ "$(cat "$tools/versions" 2>/dev/null)" != "$versions" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    # Two words on purpose.
    # shellcheck disable=SC2086
    "$tools/bin/pip" install --quiet --disable-pip-version-check $versions
    echo "$versions" > "$tools/versions"
fi

home=$(mktemp -d)
service=""
# shellcheck disable=SC2317
finish() {
    if [ -n "$service" ]; then
        kill "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    fi
    rm -rf "$home"
}
trap finish EXIT
trap 'exit 130' INT TERM

export SATCHEL_STORE="$home/store" SATCHEL_ACCESS_KEYS="$home/access.keys"
SATCHEL_KEY=$("$products/satchel" key create --name schemathesis --role admin --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])')
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port
"$products/satchel" serve --listen "127.0.0.1:$port" --codecs 2 > "$home/log" 2>&1 &
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

export SATCHEL_KEY SCHEMATHESIS_HOOKS=hooks PYTHONPATH="$root/Tests/schemathesis"
export PYTHONDONTWRITEBYTECODE=1
"$tools/bin/python" Tests/schemathesis/check_examples.py Sources/API/Description/openapi.json
status=0
# It leaves notes where it runs.
cd "$home"
"$tools/bin/schemathesis" --config-file "$root/Tests/schemathesis/schemathesis.toml" run "$url/openapi.json" "$@" || status=$?
kill -0 "$service" 2>/dev/null || {
    echo "the service died" >&2
    # What it said beside its log, of which the first thread is the one that crashed.
    grep -v '^{' "$home/log" | tail -n +4 | head -n 100 >&2
    exit 1
}
[ $status = 0 ] || { echo "--- the service's log, its end ---" >&2; tail -n 20 "$home/log" >&2; }
exit $status
