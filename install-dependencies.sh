#!/bin/sh
# Installs what Satchel needs on Debian 12 or 13, from Debian's own packages. make, CI and the image share this script.
#
#   ./install-dependencies.sh build               what a build needs
#   ./install-dependencies.sh build test          what `make test` needs as well
#   ./install-dependencies.sh build test check    what `make check` needs: servers, a browser, other releases of Debian
#   ./install-dependencies.sh package             what builds and checks the Debian package
#   ./install-dependencies.sh bench               the programs that Satchel is measured against
#   ./install-dependencies.sh run                 what a built Satchel needs
#   ./install-dependencies.sh --list test         only prints the names of the packages
#   ./install-dependencies.sh backports           on Debian 12: a libheif that reads the HEIC of the newest phones
#
# The script lists packages and their size before it installs them. It neither starts nor enables services of packages that it
# installs, creates no PostgreSQL cluster, and leaves the services alone that the machine has already.
#
# `backports` adds Debian's archive of newer packages and installs only libheif from it. No other group does that.
#
# The script needs root, or sudo, unless all packages are installed.
# Lists of packages are strings of words, which are split on purpose.
# shellcheck disable=SC2086
set -eu

build="build-essential pkg-config git make libvips-dev libavformat-dev libavcodec-dev libavfilter-dev
    libswscale-dev libswresample-dev libheif-dev libjxl-dev libjpeg62-turbo-dev libmagic-dev libseccomp-dev
    libsqlite3-dev libpq-dev libncurses6 libxml2 python3"
run="libheif1 libjpeg62-turbo libseccomp2 libsqlite3-0 libpq5 ca-certificates tzdata"
test="ffmpeg libvips-tools libimage-exiftool-perl gifsicle imagemagick strace iproute2 python3 python3-venv webp
    libheif-examples libjpeg-turbo-progs libjxl-tools sqlite3 openssl procps shellcheck
    python3-prometheus-client python3-pil python3-numpy python3-pyte python3-cryptography python3-botocore libavif-bin zsh
    fish file curl groff-base postgresql pgbouncer systemd"
check="debootstrap nginx-light prometheus python3-yaml chromium chromium-driver clamav-daemon ceph-mon ceph-osd ceph-common
    radosgw valgrind"
packaging="debhelper chrpath lintian systemd-container"
bench="ffmpeg libvips-tools gifsicle imagemagick graphicsmagick libjpeg-dev zlib1g-dev nginx-light wrk
    valgrind util-linux python3 python3-dev python3-venv"

# Debian's kubectl would conflict with one that was installed from elsewhere.
command -v kubectl >/dev/null || check="$check kubernetes-client"

# Packages whose names differ between releases. A release that is not named here is treated as the newest one.
# shellcheck source=/dev/null
[ ! -r /etc/os-release ] || . /etc/os-release
case "${VERSION_CODENAME:-}" in
    bookworm)
        run="$run libvips42 libavformat59 libavcodec59 libavfilter8 libswscale6 libswresample4 libjxl0.7 libmagic1"
        # The Swift toolchain for Debian 12 loads libncurses6, libxml2 and libcurl, which it does not bring.
        build="$build libcurl4"
        test="$test libopenh264-7"
        ;;
    *)
        run="$run libvips42t64 libavformat61 libavcodec61 libavfilter10 libswscale8 libswresample5 libjxl0.11 libmagic1t64"
        build="$build libcurl4t64"
        # Encoders are separate packages in this release.
        test="$test libopenh264-8 libheif-plugin-x265 libheif-plugin-aomenc"
        ;;
esac

usage() {
    echo "usage: $0 [--list] build|test|check|package|bench|run ..." >&2
    echo "       $0 backports" >&2
    exit 2
}

# as_root command...: runs the command as root, or names the packages to install.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "Run this as root${missing:+, or install these packages:$missing}" >&2
        exit 1
    fi
}

# The messages of apt-get are read below, so they are in English.
apt_install="env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends"

# Lists what `apt-get install` is about to do with these arguments, and writes the names of new packages to $scratch/new.
announce() {
    # With --print-uris apt-get installs nothing.
    $apt_install -y --print-uris -o Debug::NoLocking=1 "$@" >"$scratch/plan" 2>"$scratch/log" ||
        { cat "$scratch/plan" "$scratch/log" >&2; exit 1; }
    awk '/^[^ ]/ { new = /^The following NEW packages/ } /^ / && new' "$scratch/plan" | xargs -n 1 | sed 's/:.*//' >"$scratch/new"
    download=$(sed -n 's/^Need to get \(.*\) of archives.*/\1/p' "$scratch/plan")
    disk=$(sed -n 's/^After this operation, \(.*\) of additional disk space.*/\1/p' "$scratch/plan")
    {
        echo "Installing $(wc -l <"$scratch/new") Debian packages (${download:-0 B} to download, ${disk:-0 B} on disk):"
        echo "$missing" | fold -s -w 76 | sed 's/^ */  /; s/ *$//'
        echo "and the packages that these need. Their services are neither started nor enabled. This takes minutes."
    } >&2
}

# Makes commands that dpkg's scripts call in place of the system's own. For a new package they start no service, and record
# each one as disabled by the administrator, which later upgrades respect. For other packages they call the system's.
make_commands() {
    mkdir "$scratch/bin"
    cat >"$scratch/bin/command" <<'TEXT'
#!/bin/sh
bin=$(dirname "$0")
name=$(basename "$0")
PATH=$(printf %s "$PATH" | sed "s|^$bin:||")
if grep -qxF "${DPKG_MAINTSCRIPT_PACKAGE:-}" "$bin/../new"; then
    case "$name $*" in
        deb-systemd-invoke* | invoke-rc.d* | pg_createcluster*) exit 0 ;;
        deb-systemd-helper*was-enabled*) exit 1 ;;
    esac
    for argument in "$@"; do
        shift
        case "$name $argument" in
            "deb-systemd-helper enable") argument=update-state ;;
            "update-rc.d defaults") argument=defaults-disabled ;;
        esac
        set -- "$@" "$argument"
    done
fi
exec "$name" "$@"
TEXT
    chmod 755 "$scratch/bin/command"
    for name in deb-systemd-invoke deb-systemd-helper invoke-rc.d update-rc.d pg_createcluster; do
        ln -s command "$scratch/bin/$name"
    done
}

# install [option ...] package ...
install() {
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    announce "$@"
    make_commands
    as_root $apt_install -y -qq -o Dpkg::Use-Pty=0 -o DPkg::Path="$scratch/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@" \
        >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
    rm -rf "$scratch"
}

# Debian 12's libheif 1.15 refuses what the newest phones write; backports have 1.19, for the same programs.
backports() {
    missing=""
    installed=$(dpkg-query -W -f '${Version}' libheif1 2>/dev/null || echo 0)
    if [ "${VERSION_CODENAME:-}" != bookworm ]; then
        echo "Only Debian 12 needs this; libheif of this release reads them." >&2
        return
    fi
    if dpkg --compare-versions "$installed" ge 1.18; then
        echo "libheif $installed is here already." >&2
        return
    fi
    cat >&2 <<'TEXT'
Installing libheif from bookworm-backports, Debian's archive of newer packages for Debian 12, and nothing else from there.
Its security updates may come later than Debian 12's own. To go back, remove satchel-backports.list in
/etc/apt/sources.list.d and satchel-backports in /etc/apt/preferences.d, then: apt-get update && apt-get install libheif1/bookworm
TEXT
    # shellcheck disable=SC2016
    archive=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^bookworm //p' | head -n 1)
    signed="signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
    echo "deb [$signed] ${archive:-http://deb.debian.org/debian} bookworm-backports main" |
        as_root tee /etc/apt/sources.list.d/satchel-backports.list >/dev/null
    # Else apt would take later what goes with libheif from where the rest is from: its packages want to be of one version.
    printf 'Package: src:libheif\nPin: release n=bookworm-backports\nPin-Priority: 990\n' |
        as_root tee /etc/apt/preferences.d/satchel-backports >/dev/null
    as_root apt-get update -qq
    # What is there of it, and the encoders, which are packages of their own since then.
    # shellcheck disable=SC2016,SC2046
    install $(dpkg-query -W -f '${db:Status-Status} ${source:Package} ${Package}\n' | sed -n 's/^installed libheif //p') \
        libheif1 libheif-plugin-libde265 libheif-plugin-dav1d libheif-plugin-x265 libheif-plugin-aomenc
    installed=$(dpkg-query -W -f '${Version}' libheif1)
    echo "libheif is $installed now. Restart satchel serve; satchel doctor says what it doesn't read." >&2
}

list=no
if [ "${1:-}" = --list ]; then
    list=yes
    shift
fi
[ $# -gt 0 ] || usage
if [ "$*" = backports ] && [ $list = no ]; then
    backports
    exit 0
fi
packages=""
needs_swift=no
for group in "$@"; do
    case "$group" in
        build) packages="$packages $build"; needs_swift=yes ;;
        run) packages="$packages $run" ;;
        test) packages="$packages $test" ;;
        check) packages="$packages $check" ;;
        bench) packages="$packages $bench" ;;
        package) packages="$packages $packaging" ;;
        *) usage ;;
    esac
done
if [ "$list" = yes ]; then
    echo $packages
    exit 0
fi

missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "This system has no apt-get. Install the counterparts of these Debian packages:$missing" >&2
        exit 1
    fi
    as_root apt-get update -qq
    install $missing
fi

if [ "$needs_swift" = yes ]; then
    if ! command -v swift >/dev/null; then
        cat >&2 <<'TEXT'
Swift is missing. Satchel is built with Swift 6.3:

  1. Download the toolchain for Debian 12 from https://www.swift.org/install/linux/
  2. Unpack it, for example into /opt/swift
  3. Put its usr/bin directory on the PATH, then run this again.
TEXT
        exit 1
    fi
    if ! swift --version >/dev/null; then
        echo "swift does not run here. Its message above says why." >&2
        exit 1
    fi
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    set -- $version
    if [ "${1:-0}" -lt 6 ] || { [ "$1" -eq 6 ] && [ "${2:-0}" -lt 2 ]; }; then
        echo "Swift ${1:-?}.${2:-?} is too old; Satchel is built with Swift 6.3. See https://www.swift.org/install/linux/" >&2
        exit 1
    fi
fi
