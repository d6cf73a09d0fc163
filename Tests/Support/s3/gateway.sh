#!/bin/sh
# A real S3 server on the loopback: Ceph's object gateway, with one monitor and one storage daemon that keeps all in memory.
#
#   Tests/Support/s3/gateway.sh DIRECTORY [bucket ...]
#
# A bucket whose name ends in `-versions` keeps versions.
#
# Says `ready` when it answers, and runs until its input ends; then it stops, also where who started it was killed. DIRECTORY,
# which it makes and removes, has `env` for a shell (`. DIRECTORY/env`: where it is and its keys), logs, and the ids of its
# processes in `mon.pid`, `osd.pid` and `rgw.pid`: where the storage daemon is stopped (kill -STOP), the gateway takes requests and
# answers none. KEEP=1 in the environment leaves the directory, for a look at the logs.
set -eu

directory=${1:?usage: $0 DIRECTORY [bucket ...]}
shift
for program in ceph-mon ceph-osd radosgw radosgw-admin monmaptool; do
    command -v "$program" >/dev/null || {
        echo "$program is missing: the tests of S3 run against Ceph's gateway. Install it: ./install-dependencies.sh check" >&2
        exit 1
    }
done
mkdir "$directory"
directory=$(cd "$directory" && pwd)

# Process ids.
started=""
end() {
    status=$?
    trap - EXIT
    for one in $started; do kill -KILL "$one" 2>/dev/null || true; done
    wait
    [ -n "${KEEP:-}" ] || rm -rf "$directory"
    exit $status
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# Two at once, so that they differ.
ports=$(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))')
monitor=${ports% *}
gateway=${ports#* }
random() { od -An -tx1 -N"$1" /dev/urandom | tr -d ' \n'; }
access_key=$(random 10 | tr a-f A-F)
secret_key=$(random 20)
cluster=$(cat /proc/sys/kernel/random/uuid)

(
    umask 077
    cat >"$directory/env" <<ENV
export AWS_ENDPOINT_URL_S3=http://127.0.0.1:$gateway AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=$access_key AWS_SECRET_ACCESS_KEY=$secret_key
ENV
)
# No authentication between the three, one copy of everything, and as little as can be of what waits, rotates or balances.
# `s3.test` is the gateway's name for whoever puts the bucket before it. The key is what SSE-KMS uses.
cat >"$directory/ceph.conf" <<CONF
[global]
fsid = $cluster
mon host = v2:127.0.0.1:$monitor/0
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
ms mon client mode = crc
auth cluster required = none
auth service required = none
auth client required = none
keyring = $directory/keyring
run dir = $directory
admin socket =
log file = $directory/\$type.log
mon cluster log file = $directory/cluster.log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 2
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
[mon]
mon data = $directory/mon
mon data avail warn = 2
mon data avail crit = 1
paxos propose interval = 0.05
[osd]
osd data = $directory/osd
osd objectstore = memstore
memstore device bytes = 2G
osd memory target = 939524096
osd class update on start = false
osd numa auto affinity = false
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$gateway tcp_nodelay=1
rgw dns name = s3.test
rgw crypt require ssl = false
rgw crypt s3 kms backend = testing
rgw crypt s3 kms encryption keys = test-key=$(head -c 32 /dev/urandom | base64 | tr -d '\n')
rgw thread pool size = 64
rgw enable usage log = false
rgw enable ops log = false
rgw enable quota threads = false
rgw run sync thread = false
rgw dynamic resharding = false
rgw data log num shards = 1
rgw md log max shards = 1
rgw gc max objs = 1
rgw lc max objs = 1
rgw objexp hints num shards = 1
CONF
export CEPH_CONF="$directory/ceph.conf" CEPH_ARGS="--conf $directory/ceph.conf"

# A process of its own group, so that an interrupt of the terminal reaches it by the trap alone.
start() { # name, command
    name=$1
    shift
    setsid "$@" >>"$directory/$name.out" 2>&1 </dev/null &
    started="$! $started"
    echo $! >"$directory/$name.pid"
}
await() { # what, command
    what=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { echo "$what didn't come up; with KEEP=1 its log stays in $directory" >&2; exit 1; }
        sleep 0.1
    done
}
is_up() { ceph osd stat -f json | grep -q '"num_up_osds":1'; }
answers() { curl -sf -o /dev/null "http://127.0.0.1:$gateway/"; }

monmaptool --create --clobber --fsid "$cluster" --addv a "[v2:127.0.0.1:$monitor/0]" "$directory/monmap" >"$directory/mon.out"
ceph-mon --mkfs -i a --monmap "$directory/monmap" >>"$directory/mon.out" 2>&1
start mon ceph-mon -f -i a
await "Ceph's monitor" ceph --connect-timeout 2 quorum_status
mkdir "$directory/osd"
storage=$(cat /proc/sys/kernel/random/uuid)
ceph osd new "$storage" 0 >/dev/null
ceph-osd --mkfs -i 0 --osd-uuid "$storage" >>"$directory/osd.out" 2>&1
ceph osd crush add 0 1 root=default host=one >/dev/null 2>&1
start osd ceph-osd -f -i 0
await "Ceph's storage daemon" is_up
radosgw-admin user create --uid test --display-name test --access-key "$access_key" --secret-key "$secret_key" \
    >"$directory/user.out" 2>&1 || { cat "$directory/user.out" >&2; exit 1; }
start rgw radosgw -f -n client.rgw
await "Ceph's gateway" answers
put() { # what, body
    curl -sf --aws-sigv4 aws:amz:us-east-1:s3 --user "$access_key:$secret_key" -X PUT --data-binary "$2" \
        -H "x-amz-content-sha256: $(printf %s "$2" | sha256sum | cut -c 1-64)" "http://127.0.0.1:$gateway/$1" >/dev/null || {
        echo "the bucket ${1%%\?*} can't be made" >&2
        exit 1
    }
}
for bucket in "$@"; do
    put "$bucket" ""
    case $bucket in
        *-versions)
            put "$bucket?versioning=" '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>'
            ;;
    esac
done
echo ready
# Whoever started it holds the other end.
cat >/dev/null
