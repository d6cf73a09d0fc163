#!/usr/bin/env python3
"""Looks for what a rendition must not say, in every file of a directory: canaries, in any encoding and compressed;
bytes that are not needed; tags that exiftool and ffprobe know and that are not listed here. Prints one line for each
complaint, and nothing where all is well.

    judge.py DIRECTORY
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import zlib

from PIL import Image

import structure
from canary import MARK

# What exiftool may tell: the file itself, its shape, its coding. Everything else is a complaint.
ALLOWED_GROUPS = {"ExifTool", "System", "Composite"}
ALLOWED_TAGS = {
    "File": {"FileName", "FileType", "FileTypeExtension", "MIMEType", "ImageWidth", "ImageHeight", "EncodingProcess", "BitsPerSample",
             "ColorComponents", "YCbCrSubSampling"},
    "JFIF": {"JFIFVersion", "ResolutionUnit", "XResolution", "YResolution"},
    "PNG": {"ImageWidth", "ImageHeight", "BitDepth", "ColorType", "Compression", "Filter", "Interlace", "Palette", "Transparency"},
    "PNG-pHYs": {"PixelUnits", "PixelsPerUnitX", "PixelsPerUnitY"},
    "GIF": {"GIFVersion", "ImageWidth", "ImageHeight", "HasColorMap", "ColorResolutionDepth", "BitsPerPixel", "BackgroundColor",
            "AnimationIterations", "FrameCount", "Duration", "TransparentColor"},
    "RIFF": {"ImageWidth", "ImageHeight", "VP8Version", "HorizontalScale", "VerticalScale", "WebP_Flags", "AlphaPreprocessing",
             "AlphaFiltering", "AlphaCompression", "AlphaIsUsed", "BackgroundColor", "AnimationLoopCount", "FrameCount", "Duration",
             "Encoding", "NumChannels", "SampleRate", "AvgBytesPerSec", "BitsPerSample", "NumSampleFrames", "BlockAlignment"},
    "MPEG": {"MPEGAudioVersion", "AudioLayer", "AudioBitrate", "SampleRate", "ChannelMode", "MSStereo", "IntensityStereo",
             "CopyrightFlag", "OriginalMedia", "Emphasis", "VBRFrames", "VBRBytes", "VBRScale", "Encoder", "LameVBRQuality",
             "LameQuality", "LameMethod", "LameLowPassFilter", "LameBitrate", "LameStereoMode"},
}
# Of MP4, in whatever group: the fields of its boxes, never a text of them.
ALLOWED_MP4 = {
    "MajorBrand", "MinorVersion", "CompatibleBrands", "MovieHeaderVersion", "CreateDate", "ModifyDate", "TimeScale", "Duration",
    "PreferredRate", "PreferredVolume", "PreviewTime", "PreviewDuration", "PosterTime", "SelectionTime", "SelectionDuration",
    "CurrentTime", "NextTrackID", "TrackHeaderVersion", "TrackCreateDate", "TrackModifyDate", "TrackID", "TrackDuration",
    "TrackLayer", "TrackVolume", "ImageWidth", "ImageHeight", "GraphicsMode", "OpColor", "CompressorID", "SourceImageWidth",
    "SourceImageHeight", "XResolution", "YResolution", "BitDepth", "VideoFrameRate", "MatrixStructure", "MediaHeaderVersion",
    "MediaCreateDate", "MediaModifyDate", "MediaTimeScale", "MediaDuration", "MediaLanguageCode", "HandlerType",
    "HandlerDescription", "Balance", "AudioFormat", "AudioChannels", "AudioBitsPerSample", "AudioSampleRate", "MediaDataSize",
    "MediaDataOffset", "PixelAspectRatio", "BufferSize", "MaxBitrate", "AverageBitrate", "ColorProfiles", "ColorPrimaries",
    "TransferCharacteristics", "MatrixCoefficients", "VideoFullRangeFlag", "FreeBytes", "Free", "EditListVersion",
    # Tables without text, which the structure's check has looked into.
    "Unknown_edts", "Unknown_free", "SampleToChunk", "SampleSizes", "ChunkOffset", "Unknown_esds", "TimeToSampleTable", "SampleToGroup",
    "SampleGroupDescription", "MediaData", "Unknown_btrt", "SyncSampleTable", "AVCConfiguration", "CompositionTimeToSample",
}
ONLY_VALUES = {"Encoder": {"Lavf"}, "Unknown_free": {""}, "CreateDate": {"0000:00:00 00:00:00"}, "ModifyDate": {"0000:00:00 00:00:00"},
               "HandlerDescription": {"VideoHandler", "SoundHandler"}, "MediaLanguageCode": {"und"},
               "ProfileDescription": {"Display P3", "sRGB", "sRGB built-in", "c2", "uP3", "sP3C"}}
ALLOWED_PROBE = {"major_brand", "minor_version", "compatible_brands", "language", "handler_name", "vendor_id"}
# What a picture that is tagged as Display P3 says of its colours.
ALLOWED_PROFILE = re.compile(
    r"Profile(Version|Class|ConnectionSpace|FileSignature|Description|CMMType|DateTime|ID|Creator|Copyright)|ColorSpaceData|"
    r"PrimaryPlatform|CMMFlags|Device(Manufacturer|Model|Attributes)|RenderingIntent|ConnectionSpaceIlluminant|MediaWhitePoint|"
    r"ChromaticAdaptation|(Red|Green|Blue)(MatrixColumn|TRC)|MediaBlackPoint|Chromaticity.*|ChromaticAdaptation")


def shifted(text: bytes, bits: int) -> bytes:
    """The whole bytes of `text` when it stands `bits` bits behind a byte's beginning."""
    return (int.from_bytes(text, "big") >> bits).to_bytes(len(text), "big")[1:]


PATTERNS = [(name, text) for name, text in
            [("ASCII", MARK), ("UTF-16", MARK.decode().encode("utf-16-le")), ("UTF-16", MARK.decode().encode("utf-16-be")),
             ("hexadecimal", MARK.hex().encode()), ("base64", b"U0FUQ0hFTC1DQU5BUl"), ("a place", b"12.3456"), ("a place", b"98.7654")]
            + [(f"{bits} bits off", shifted(MARK, bits)) for bits in range(1, 8)]]


def inflated(data: bytes):
    """What any zlib stream in the file holds."""
    for match in re.finditer(rb"[\x08\x18\x28\x38\x48\x58\x68\x78][\x01\x5e\x9c\xda]", data):
        if int.from_bytes(match[0], "big") % 31 == 0:
            try:
                yield zlib.decompressobj().decompress(data[match.start():], 1 << 22)
            except zlib.error:
                pass


def canaries(data: bytes):
    for content in [data, *inflated(data)]:
        for name, text in PATTERNS:
            at = content.find(text)
            if at >= 0:
                yield f"canary in {name}: {content[max(0, at - 12):at + 50]!r}"


def hidden_colours(file: pathlib.Path, data: bytes):
    """Colours where nothing shows them."""
    # What a lossy WebP shows there is smeared from what is beside it.
    if not (data.startswith(b"\x89PNG") or data[8:12] == b"WEBP" and b"VP8L" in data[:60]):
        return
    with Image.open(file) as image:
        pixels = image.convert("RGBA").tobytes()
    mask = int.from_bytes(pixels[3::4].translate(bytes([255]) + bytes(255)), "big")
    if any(int.from_bytes(pixels[channel::4], "big") & mask for channel in range(3)):
        yield "colours under full transparency"


def probe(file: pathlib.Path):
    if file.read_bytes()[4:8] != b"ftyp" and file.suffix not in (".mp3", ".wav"):
        return
    asked = subprocess.run(["ffprobe", "-v", "error", "-show_format", "-show_streams", "-show_chapters", "-of", "json", str(file)],
                           capture_output=True, check=True)
    found = json.loads(asked.stdout)
    if found.get("chapters"):
        yield "chapters"
    for part in [found["format"], *found["streams"]]:
        for key in set(part.get("tags", {})) - ALLOWED_PROBE:
            if not (key == "encoder" and part["tags"][key] == "Lavf"):
                yield f"ffprobe: {key} = {part['tags'][key]}"
    for stream in found["streams"]:
        if stream["codec_type"] not in ("audio", "video"):
            yield f"a stream of {stream['codec_type']}"
        for side in stream.get("side_data_list", []):
            if side["side_data_type"] != "Display Matrix":
                yield f"side data: {side['side_data_type']}"


def tags(directory: pathlib.Path):
    """(name, complaint) by exiftool, over all files at once."""
    asked = subprocess.run(["exiftool", "-json", "-a", "-u", "-ee", "-G1", "-s", "-r", str(directory)], capture_output=True)
    for entry in json.loads(asked.stdout or "[]"):
        name = pathlib.Path(entry["SourceFile"]).name
        for full, value in entry.items():
            group, _, tag = full.rpartition(":")
            if not group or group in ALLOWED_GROUPS:
                continue
            if tag in ONLY_VALUES or tag.removeprefix("Track").removeprefix("Media") in ("CreateDate", "ModifyDate"):
                allowed = ONLY_VALUES.get(tag) or {"0000:00:00 00:00:00"}
                if str(value) not in allowed:
                    yield name, f"exiftool: {full} = {value}"
                continue
            is_mp4 = group == "QuickTime" or group.startswith("Track")
            if tag in ALLOWED_TAGS.get(group, ()) or is_mp4 and tag in ALLOWED_MP4:
                continue
            if group.startswith("ICC") and ALLOWED_PROFILE.fullmatch(tag):
                continue
            yield name, f"exiftool: {full} = {str(value)[:80]}"
        text = json.dumps(entry)
        if MARK.decode() in text.replace(name, "") or "12 deg 20" in text:
            yield name, "exiftool shows a canary"


def one(file: pathlib.Path):
    data, found = file.read_bytes(), []
    for check in (canaries(data), structure.complaints(data), hidden_colours(file, data), probe(file)):
        try:
            found += check
        except Exception as error:
            # What can't be taken apart can't be vouched for.
            found.append(f"it can't be taken apart: {error!r}")
    return [(file.name, text) for text in found]


def main() -> None:
    directory = pathlib.Path(sys.argv[1])
    files = sorted(file for file in directory.iterdir() if file.is_file())
    assert files, "nothing to judge"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [complaint for complaints in pool.map(one, files) for complaint in complaints]
    for name, text in found + list(tags(directory)):
        print(f"{name}: {text}")


if __name__ == "__main__":
    main()
