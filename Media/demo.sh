#!/bin/sh
# Prepares a few sample files for a push notification, and shows sources and results side by side.
#
#   Media/demo.sh SATCHEL [DIRECTORY]
#
# Everything that it writes is in the directory, .demo/showcase by default. It needs satchel and standard tools only. The exit
# status is 0 if the hostile file is refused, the others are delivered, and no result has what is looked for below.
set -eu
satchel=${1:?usage: $0 SATCHEL [DIRECTORY]}
cd "$(dirname "$0")/.."
case "$satchel" in /*) ;; *) satchel="./$satchel" ;; esac
place=${2:-.demo/showcase}
export SATCHEL_STORE="$place/store" SATCHEL_ACCESS_KEYS="$place/access.keys"
export LC_ALL=C.UTF-8
rm -rf "$place/samples" "$place/results" "$place/store" "$place/access.keys" "$place/faults" "$place/opened.jpg"
mkdir -p "$place/samples"

# name|sample|description|why the result may be larger
samples='earth.jpg|jpeg/earth-12-megapixels.jpg|a photograph of 12 megapixels|
cup.jpg|jpeg/private.jpg|a photograph with GPS, captions and a serial number|
IMG_0042.HEIC|heic/coffee-gps.heic|a HEIC photograph with GPS|JPEG needs more bytes, and every device shows it
rocket.jpg|jpeg/rocket-portrait.jpg|a photograph that was stored on its side|
film.gif|gif/film.gif|an animation|the source was already compressed well
clip.mp4|mp4/long.mp4|a video that is too long for a notification|
voice.flac|flac/voice.flac|a voice note with a comment|
hostile.png|trouble/vast.png|a bomb: 69 bytes that unpack to 10,000 megapixels|'

# What is looked for in the bytes of sources and results: tags of Exif in both byte orders, keys of QuickTime, texts.
# name|expression
marks='GPS|\x88\x25\0\x04|\x25\x88\x04\0|location\.ISO6709
camera|\x01\x0f\0\x02|\x0f\x01\x02\0|quicktime\.make
date|\x90\x03\0\x02|\x03\x90\x02\0
rotation|\x01\x12\0\x03\0{3}\x01\0[\x02-\x08]|\x12\x01\x03\0\x01\0{3}[\x02-\x08]\0
texts|\x01\x0e\0\x02|\x92\x86\0\x07|\x82\x98\0\x02|adobe\.com/xap|(?i)(comment|description|title)=.'

# marks_in FILE: the names of the marks that a file has.
marks_in() {
    printf '%s\n' "$marks" | while IFS='|' read -r name expression; do
        ! LC_ALL=C grep -qaP -e "$expression" "$1" || echo "$name"
    done | paste -s -d '|' | sed 's/|/, /g'
}

echo "$samples" | while IFS='|' read -r name sample _; do
    cp "Media/$sample" "$place/samples/$name"
done
echo "\$ satchel batch $place/samples --output $place/results"
status=0
"$satchel" batch "$place/samples" --output "$place/results" --report "$place/report.jsonl" --quiet 2>"$place/messages" || status=$?
# 1 says that some were not delivered.
[ "$status" -le 1 ] || { cat "$place/messages" >&2; exit "$status"; }

# The report as fields: name, state, bytes, size, duration and type of the source, the same of the result and its path, seconds,
# error, attachment. `-` stands for what is not there.
awk '
    function value(text, key) {
        return match(text, "\"" key "\":(\"[^\"]*\"|[0-9.]+)") ? part(text, length(key) + 3) : "-"
    }
    function part(text, skipped,    found) {
        found = substr(text, RSTART + skipped, RLENGTH - skipped)
        gsub(/"/, "", found)
        return found
    }
    function object(text, key) { return match(text, "\"" key "\":\\{[^{}]*\\}") ? substr(text, RSTART, RLENGTH) : "" }
    function facts(text) {
        return value(text, "bytes") "|" value(text, "width") "x" value(text, "height") "|" value(text, "duration")
    }
    {
        source = object($0, "source")
        main = object($0, "main")
        print value($0, "path") "|" value($0, "state") "|" facts(source) "|" facts(main) "|" value(main, "file") "|" \
            value($0, "seconds") "|" value(object($0, "error"), "code") "|" value($0, "attachment_id")
    }' "$place/report.jsonl" >"$place/fields"

# The same in the order of the samples, with their descriptions and what was removed.
echo "$samples" | while IFS='|' read -r name sample description larger; do
    fields=$(grep "^$name|" "$place/fields")
    result=$(echo "$fields" | cut -d '|' -f 9)
    removed=$(marks_in "$place/samples/$name")
    if [ "$result" != - ]; then
        kept=$(marks_in "$place/results/$result")
        [ -z "$kept" ] || echo "$name: the result has $kept" >>"$place/faults"
    fi
    echo "$fields|$removed|$description|$larger"
done >"$place/table"

# The functions of both outputs below.
functions='
    function size(bytes) {
        if (bytes == "-") return "-"
        if (bytes < 1000) return bytes " B"
        if (bytes < 99950) return sprintf("%.1f kB", bytes / 1000)
        return bytes < 999500 ? sprintf("%.0f kB", bytes / 1000) : sprintf("%.2f MB", bytes / 1e6)
    }
    function extent(pixels, duration) {
        if (pixels != "-x-") return pixels
        return duration == "-" ? "" : sprintf("%.1f s", duration)
    }
    function removal(texts, before, after) {
        if (after != "-" && before - after > 0.5) texts = texts (texts == "" ? "" : ", ") sprintf("%.0f of %.0f s", before - after, before)
        return texts == "" ? "-" : texts
    }
    BEGIN { FS = "|" }'

# typeset_sizes: reads 300x200, writes 300×200.
typeset_sizes() {
    sed 's/\([0-9]\)x\([0-9]\)/\1×\2/g'
}

awk -v page="$place/index.html" "$functions"'
    BEGIN { print "FILE           SOURCE              RESULT              TIME  REMOVED/REASON" }
    $2 == "delivered" {
        grew = $6 > $3 + 0
        printf "%-13s %7s %9s  %7s%1s %9s  %4.2f s  %s\n", $1, size($3), extent($4, $5), size($6), grew ? "*" : "",
            extent($7, $8), $10, removal($13, $5, $8)
        before += $3
        after += $6
        if (grew) notes = notes sprintf("* %s grew: %s.\n", $1, $15)
        next
    }
    { printf "%-13s %7s %9s  %-18s  %4.2f s  %s\n", $1, size($3), "", "refused", $10, $11 }
    END { printf "%s%s became %s. Side by side: %s\n", notes, size(before), size(after), page }' "$place/table" | typeset_sizes

# The page names its files relative to itself, so it works from a file system.
awk "$functions"'
    function medium(path, poster,    type) {
        type = path
        sub(/.*\./, "", type)
        type = tolower(type)
        if (type == "mp4") return "<video controls loop playsinline src=\"" path "\" poster=\"" poster "\"></video>"
        if (type == "flac" || type == "m4a") return "<audio controls src=\"" path "\"></audio>"
        return "<a href=\"" path "\"><img alt=\"This browser does not show " toupper(type) ".\" src=\"" path "\"></a>"
    }
    function figure(title, path, bytes, measure) {
        return "<figure>" medium(path, "results/" $1 ".poster.jpg") "<figcaption><b>" title "</b> " bytes " · " measure \
            "</figcaption></figure>"
    }
    BEGIN {
        print "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">"
        print "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Satchel: sources and results</title>"
        print "<style>"
        print ":root { color-scheme: light dark; --page: light-dark(#f6f6f4, #171819); --card: light-dark(#fff, #222426);"
        print "  --text: light-dark(#1d1d1f, #e8e8ea); --dim: light-dark(#62626a, #a2a2aa); --line: light-dark(#dddde0, #3a3c40); }"
        print "body { margin: 0 auto; padding: 2rem 1rem; max-width: 60rem; background: var(--page); color: var(--text);"
        print "  font: 1rem/1.5 system-ui, sans-serif; }"
        print "h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0; }"
        print "p { margin: 0 0 .75rem; } p, figcaption { color: var(--dim); font-size: .9rem; }"
        print "section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin-top: 1rem; }"
        print ".pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; }"
        print "figure { margin: 0; min-width: 0; display: flex; flex-direction: column; justify-content: end; }"
        print "figcaption { margin-top: .4rem; font-variant-numeric: tabular-nums; } figcaption b { color: var(--text); }"
        print "img, video { display: block; max-width: 100%; max-height: 20rem; margin: auto; border-radius: .25rem; }"
        print "audio { width: 100%; } a { color: var(--dim); text-decoration: none; text-align: center; }"
        print "</style>"
        print "<h1>Sources and results</h1>"
        print "<p>What <code>satchel batch</code> made of a few files for a push notification.</p>"
    }
    $2 == "delivered" {
        print "<section>\n<h2>" $1 ": " $14 "</h2>"
        removed = removal($13, $5, $8)
        print "<p>" (removed == "-" ? "Nothing to remove" : "Removed: " removed) "." ($6 > $3 + 0 ? " Larger: " $15 "." : "") "</p>"
        print "<div class=\"pair\">" figure("Source", "samples/" $1, size($3), extent($4, $5))
        print figure("Result", "results/" $9, size($6), extent($7, $8)) "</div>\n</section>"
        next
    }
    { print "<section>\n<h2>" $1 ": " $14 "</h2>\n<p>Refused in " $10 " s: <code>" $11 "</code>. It is not shown here.</p>\n</section>" }
    END { print "</html>" }' "$place/table" | typeset_sizes >"$place/index.html"

# A lease opens the first photograph, and nothing after it is revoked.
id=$(sed -n 's/^earth\.jpg|//p' "$place/fields" | sed 's/.*|//')
"$satchel" lease "$id" >"$place/lease" 2>"$place/messages"
lease=$(sed -n 's/^lease *//p' "$place/lease")
token=$(sed -n 's/^token *//p' "$place/lease")
rm "$place/lease"
echo
echo "A lease gives access to a picture until it expires or you revoke it:"
echo "\$ satchel lease $id"
printf '%s\n' "$token" | "$satchel" get --lease - --output "$place/opened.jpg"
echo "\$ satchel get --lease satl_… --output $place/opened.jpg  # $(wc -c <"$place/opened.jpg") bytes"
cmp -s "$place/opened.jpg" "$place/results/earth.jpg.main.jpg" || echo "The lease gave another picture." >>"$place/faults"
echo "\$ satchel revoke $lease"
"$satchel" revoke "$lease" 2>"$place/messages"
echo "\$ satchel get --lease satl_… --output $place/opened.jpg"
if printf '%s\n' "$token" | "$satchel" get --lease - >/dev/null 2>"$place/refusal"; then
    echo "The lease still opened the picture after it was revoked." >>"$place/faults"
fi
fold -s -w 78 "$place/refusal" | sed 's/^/  /; s/ *$//'

echo
echo "make demo-all prepares all $(grep -c '"path"' Media/manifest.json) samples and compares them with the manifest."

[ "$(cut -d '|' -f 1,2 "$place/table" | grep -v '|delivered$')" = "hostile.png|failed" ] ||
    echo "Another file than hostile.png failed, or none did." >>"$place/faults"
[ ! -e "$place/faults" ] || { cat "$place/faults" >&2; exit 1; }
