#!/bin/sh
# Sets the address of the repository in all files that name it.
#
#   Packaging/repository.sh https://github.com/NAME/satchel
#
# Packaging/repository has the current address. `make prose` checks that the other files have the same.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
    https://?*/?*/?*) ;;
    *)
        sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
esac
former=$(cat Packaging/repository)
git grep -lzF -- "$former" | xargs -0 sed -i "s|$former|${1%/}|g"
