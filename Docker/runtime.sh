#!/bin/sh
# The runtime stage of the image, as root in a fresh Debian 13: what Satchel needs, its user, its directories.
#
#   Docker/runtime.sh               beside it, one directory up, lies install-dependencies.sh
#   LOCKED=1 Docker/runtime.sh      exactly the packages of debian.lock, which lies beside it
#
# What is locked comes from Debian's archive of all versions, as of the lock's day; SNAPSHOT names another place that has them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# A fixed id, so that a volume's files keep their owner whatever else the host calls it.
id=10001

if [ -n "${LOCKED:-}" ]; then
    lock=$here/debian.lock
    day=$(sed -n 's/^# snapshot //p' "$lock")
    archive=${SNAPSHOT:-http://snapshot.debian.org/archive}
    rm -f /etc/apt/sources.list.d/*
    # What the archive says of a day is no longer fresh by its own word.
    {
        echo "deb [check-valid-until=no] $archive/debian/$day trixie main"
        echo "deb [check-valid-until=no] $archive/debian-security/$day trixie-security main"
    } > /etc/apt/sources.list
    apt-get update -qq
    # shellcheck disable=SC2046
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends --allow-downgrades \
        $(grep -v '^#' "$lock") > /dev/null
    there=$(mktemp)
    # shellcheck disable=SC2016
    dpkg-query -W -f '${db:Status-Status} ${Package}=${Version}\n' | sed -n 's/^installed //p' | LC_ALL=C sort > "$there"
    # Where they differ, there is no image.
    grep -v '^#' "$lock" | LC_ALL=C sort | diff - "$there" >&2
    rm "$there"
fi
"$here/../install-dependencies.sh" run

groupadd --gid $id satchel
useradd --uid $id --gid $id --no-create-home --home-dir /var/lib/satchel --shell /usr/sbin/nologin satchel
install -d -o satchel -g satchel -m 700 /var/lib/satchel /etc/satchel/keys

# satchel-codec links GPL libraries: whoever passes the image on must offer their sources. The list is of exactly
# what is in the image; Debian's archive keeps every version.
install -d /usr/share/doc/satchel
{
    cat <<'TEXT'
Satchel is under the Apache License 2.0; its sources are beside this file, in satchel-sources.tar.gz. satchel-codec links
Debian's build of FFmpeg, which makes that executable GPL (version 2 or later) when it is passed on. Each
Debian package's terms are in /usr/share/doc/PACKAGE/copyright, those of the Swift packages in
/usr/share/doc/satchel/licenses. The complete sources of the Debian packages in this image:

TEXT
    # shellcheck disable=SC2016
    dpkg-query -W -f '${source:Package} ${source:Version}\n' | sort -u | while read -r package version; do
        echo "https://snapshot.debian.org/package/$package/$version/"
    done
} > /usr/share/doc/satchel/SOURCES

rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log \
    /var/log/alternatives.log /var/cache/ldconfig/aux-cache
