#!/bin/sh
# Holds what the service is deployed with (Docker/compose*.yaml, Docker/nginx, Docker/kubernetes, Docker/prometheus, Docker/grafana) to what the program knows and
# does: `make check` runs it. The scaled service is started from its compose file's values, on real servers.
#
#   Tests/System/deployment.sh [products] [option of 'unittest' ...]
#
# The tools and what they need are kept in .build/deployment.
set -eu
cd "$(dirname "$0")/../.."
SATCHEL_PRODUCTS=$(realpath "${1:-.build/debug}")
export SATCHEL_PRODUCTS
[ $# -eq 0 ] || shift
tools=$PWD/.build/deployment
. Tests/service.sh
# shellcheck disable=SC2046
install_tools "$tools" $(cat Tests/System/deployment/requirements.txt)
# Mounts of its own, for keys that can't be written.
apart="unshare --mount --propagation private"
[ "$(id -u)" = 0 ] || apart="unshare --user --map-root-user --mount"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=Tests/System/deployment
exec $apart -- "$tools/bin/python" -m unittest discover -s Tests/System/deployment -t Tests/System/deployment "$@"
