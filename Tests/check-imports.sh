#!/bin/sh
# The line that hostile bytes don't cross: satchel links no media library, the codecs no network or database.
#
#   Tests/check-imports.sh .build/debug
set -eu
products=${1:?usage: $0 PRODUCTS}
root=$(dirname "$0")/..
status=0

refuse() { # executable, pattern
    [ -x "$products/$1" ] || { echo "$products/$1 was not built" >&2; exit 1; }
    if found=$(ldd "$products/$1" | grep -E "$2"); then
        echo "$1 links what it must not:" >&2
        echo "$found" >&2
        status=1
    fi
}
demand() { # executable, libraries
    program=$1
    shift
    for library in "$@"; do
        ldd "$products/$program" | grep -q "$library\." || { echo "$program doesn't link $library" >&2; status=1; }
    done
}
refuse satchel 'lib(vips|av(codec|format|filter|util)|swscale|swresample|magic)\.'
refuse satchel-codec 'lib(sqlite3|pq)\.'
# What it would map, every process for a photograph would have to copy.
refuse satchel-stills 'lib(sqlite3|pq|av(codec|format|filter|util)|swscale|swresample|heif|jxl)\.'
demand satchel-codec libavcodec libavformat libavfilter libheif libjxl

# What each target may import of this package and of the libraries; DESIGN's table, as a list.
allow() { # target, names
    target=$1
    shift
    pattern=$(echo "$@" | tr ' ' '|')
    # The word "import" with its modifiers, then the module; the platform's own modules are free.
    found=$(grep -rnhE '^ *(@[a-zA-Z()_]+ )*((public|package|internal|private|fileprivate) )?import ' "$root"/Sources/*/"$target" --include='*.swift' |
        sed -E 's/^([0-9]+):.*import (struct |class |enum |func |protocol )?([A-Za-z_0-9]+).*/\3/' | sort -u |
        grep -vE "^(Glibc|Dispatch|Synchronization|FoundationEssentials|$pattern)\$" || true)
    if [ -n "$found" ]; then
        echo "$target imports what it must not: $(echo "$found" | tr "\n" " ")" >&2
        status=1
    fi
}
allow SatchelCore FoundationEssentials
allow GIF CScaling
allow StillCodecs SatchelCore GIF CVips CJPEG CScaling CMagic
allow ClipCodecs SatchelCore GIF StillCodecs CFFmpeg CHEIF CJXL
allow MediaCodec SatchelCore StillCodecs Confinement
allow Confinement SatchelCore CSandbox
allow satchel-codec StillCodecs ClipCodecs MediaCodec
allow satchel-stills StillCodecs MediaCodec
allow Platform SatchelCore CSandbox Metrics SystemPackage
allow Ingest SatchelCore Platform SystemPackage CSandbox AsyncHTTPClient NIOCore NIOPosix NIOHTTP1 NIOSSL Crypto \
    CryptoExtras
allow CodecPool SatchelCore Platform CSandbox
allow Jobs SatchelCore Platform Ingest CodecPool Stores AsyncHTTPClient NIOCore NIOHTTP1 Crypto
allow Postgres CPostgres
allow Bytes SatchelCore Platform SystemPackage Crypto CSandbox
allow Stores SatchelCore Platform SystemPackage Postgres Bytes GRDB Crypto AsyncHTTPClient Logging
allow S3 SatchelCore Platform CSandbox SystemPackage AsyncHTTPClient NIOCore NIOPosix NIOHTTP1 NIOSSL Crypto
allow Payloads SatchelCore
allow HTTPServer HummingbirdCore HTTPTypes NIOCore NIOPosix NIOHTTP1 NIOExtras NIOHTTPTypes NIOHTTPTypesHTTP1 NIOSSL \
    NIOCertificateReloading SwiftASN1 Logging ServiceLifecycle
allow API SatchelCore CAssets Platform Ingest CodecPool Jobs Stores Payloads HTTPServer Hummingbird HummingbirdCore HTTPTypes NIOCore \
    NIOPosix NIOHTTP1 Crypto Logging Metrics CoreMetrics ServiceLifecycle
# What is Apple's alone behind `#if canImport`: the same library serves the phone. swift-crypto is CryptoKit there.
allow SatchelClient CoreGraphics Crypto CryptoExtras Foundation FoundationNetworking UIKit UserNotifications UserNotificationsUI
allow satchel Foundation SystemPackage SatchelCore Platform Ingest CodecPool Jobs Stores Bytes S3 Payloads API HTTPServer CSandbox AsyncHTTPClient NIOCore \
    NIOHTTP1 NIOSSL ArgumentParser Configuration Yams Logging Metrics ServiceLifecycle

# The codecs link what they call, as any program does: nothing is opened by its name but libvips' modules, in one place, and no
# call is made by hand in assembly (a name for dladdr is none). One function stands in front of the C library's pthread_create.
found=$(cd "$root/Sources" && {
    find . -name '*.[sS]'
    grep -rnE '\b(dlopen|dlmopen|dlsym|g_module_open)\b|/proc/self/maps|\basm\b|__asm__' . --include='*.swift' --include='*.[ch]' |
        grep -vE '^\./Codec/CVips/shim\.h:[0-9]+:.*(__asm__\("dladdr"\);|g_module_open\(path, G_MODULE_BIND_LAZY\);)$' |
        grep -vE '^\./Shared/CSandbox/sandbox_threads\.c:[0-9]+:.*dlsym\(RTLD_NEXT, "pthread_create"\);$' || true
})
if [ -n "$found" ]; then
    echo "Sources has what opens libraries by their names, or assembly:" >&2
    echo "$found" >&2
    status=1
fi
[ $status = 0 ] && echo "No import crosses a line."
exit $status
