#!/bin/sh
# Prints the keys that access tokens are derived from, for nodes that share them as a secret and can't make them:
#
#   Docker/access-keys.sh > access.keys                    new ones
#   Docker/access-keys.sh next access.keys > next.keys     the same with one more behind, for nodes to know before it is used
#   Docker/access-keys.sh use next.keys > access.keys      the last of them in front: new tokens are derived from it
#
# A list in JSON, the key in use first; whoever has a key can make tokens of it.
set -eu
umask 077

key() {
    # A name, a time, 32 bytes.
    printf '{"kid":"%s","createdAt":"%s","key":"%s"}' \
        "$(openssl rand -hex 4)" "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" "$(openssl rand -base64 32)"
}

# entries file: one key a line.
entries() {
    tr -d '\n' <"$1" | sed 's/^ *\[//; s/\] *$//; s/} *, *{/}\n{/g'
    echo
}

usage() {
    echo "usage: $0 [next|use FILE]" >&2
    exit 2
}

case "$#${1:-}" in
    0) ;;
    2next | 2use) [ -s "$2" ] || { echo "$0: there are no keys in '$2'" >&2; exit 1; } ;;
    *) usage ;;
esac
case "${1:-new}" in
    new) key ;;
    next) entries "$2"; key ;;
    use) entries "$2" | tail -n 1; entries "$2" | sed '$d' ;;
esac | paste -sd, | sed 's/.*/[&]/'
