#!/bin/sh
# The runtime stage of the image, as root in a fresh Debian 13: what Satchel needs, its user, its directories.
#
#   Docker/runtime.sh      beside it, one directory up, lies install-dependencies.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# A fixed id, so that a volume's files keep their owner whatever else the host calls it.
id=10001

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
