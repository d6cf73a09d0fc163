#!/bin/sh
# Holds a running service to its description, with requests that nobody would think of: `make check` runs it.
#
#   Tests/System/schemathesis.sh [products] [option of 'schemathesis run' ...]
#
# Any finding fails. The tool and what it needs are kept in .build/schemathesis.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
products=$(realpath "${1:-.build/debug}")
[ $# -eq 0 ] || shift
tools=$root/.build/schemathesis
. Tests/service.sh
install_tools "$tools" schemathesis==4.32.5 openapi-spec-validator==0.9.0
start_service "$products"

export SCHEMATHESIS_HOOKS=hooks PYTHONPATH="$root/Tests/System/schemathesis"
export PYTHONDONTWRITEBYTECODE=1
"$tools/bin/python" Tests/System/schemathesis/check_examples.py Sources/Service/API/Description/openapi.json
status=0
# It leaves notes where it runs.
cd "$home"
"$tools/bin/schemathesis" --config-file "$root/Tests/System/schemathesis/schemathesis.toml" run "$url/openapi.json" "$@" || status=$?
tell_of_service $status
exit $status
