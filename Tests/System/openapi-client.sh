#!/bin/sh
# Has a generator make a client of the description, and lets that use a running service: `make check` runs it.
#
#   Tests/System/openapi-client.sh [products]
#
# Any warning of the generator fails. It and what it needs are kept in .build/openapi-client.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
products=$(realpath "${1:-.build/debug}")
tools=$root/.build/openapi-client
. Tests/service.sh
install_tools "$tools" openapi-python-client==0.29.1
start_service "$products" --fetch-allow 127.0.0.1

# It formats what it made by a tool beside it.
PATH="$tools/bin:$PATH" "$tools/bin/openapi-python-client" generate --fail-on-warning \
    --config Tests/System/openapi-client/config.yaml --path Sources/Service/API/Description/openapi.json --output-path "$home/client" </dev/null
export PYTHONPATH="$home/client" PYTHONDONTWRITEBYTECODE=1
status=0
timeout 120 "$tools/bin/python" -W error Tests/System/openapi-client/use.py "$url" "$root" </dev/null || status=$?
tell_of_service $status
exit $status
