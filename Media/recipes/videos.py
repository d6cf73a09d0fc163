"""Clips with pictures."""

from . import CANARY, Kit, sample

H264 = ("-c:v", "libx264", "-preset", "medium", "-threads", "1", "-pix_fmt", "yuv420p")
AAC = ("-c:a", "aac", "-b:a", "64k", "-ac", "2")
SILENT = ("-an",)


def film(*options, size="320:180", seconds=2, crf=32, codec=H264, audio=AAC, before=(), filters=""):
    """The film, `seconds` of it; `crf` None for encoders that have none."""
    return lambda kit, out: kit.ffmpeg(
        *before, "-i", kit.sources["film"], "-t", seconds, "-vf", f"scale={size}" + filters, *codec,
        *(() if crf is None else ("-crf", crf)), *audio, *options, out)


def drift(seconds, size="320x180", fps=25, name="coffee"):
    """A slow drift over a photograph, as input arguments: long, and small when coded."""
    width, height = (int(side) for side in size.split("x"))
    def arguments(kit: Kit):
        photo = kit.photo(name, f"{width * 5 // 4}x{height * 5 // 4}")
        frames = seconds * fps
        return ["-loop", "1", "-framerate", fps, "-t", seconds, "-i", photo, "-f", "lavfi", "-t", seconds, "-i",
                "sine=frequency=330:sample_rate=44100:beep_factor=2", "-vf",
                f"crop={width}:{height}:(iw-ow)*n/{frames}:(ih-oh)*n/{frames}"]
    return arguments


V = dict(kind="video", width=320, height=180)
Q = dict(of="film", duration=2.0, **V)

# MARK: MP4

M = dict(type="video/mp4", **Q)
sample("mp4/film.mp4", film("-movflags", "+faststart", size="640:360", seconds=6, crf=30), of="film",
       traits="h264, aac, stereo, index first, b-frames", kind="video", type="video/mp4", width=640, height=360,
       duration=5.3)
sample("mp4/index-last.mp4", film(), traits="h264, aac, index last", **M)
sample("mp4/fragmented.mp4", film("-movflags", "+frag_keyframe+empty_moov", "-g", "25"), traits="h264, aac, fragmented",
       **M)
sample("mp4/no-sound.mp4", film(audio=SILENT), traits="h264, no sound", **M)
sample("mp4/b-frames.mp4", film("-bf", "3", "-b_strategy", "0", "-g", "25"), traits="h264, b-frames", **M)
sample("mp4/key-frames-only.mp4", film("-g", "1", crf=44), traits="h264, key frames only", **M)
sample("mp4/10-bit.mp4", film(codec=("-c:v", "libx264", "-threads", "1", "-pix_fmt", "yuv420p10le")),
       traits="h264, 10 bit", **M)
sample("mp4/444.mp4", film(codec=("-c:v", "libx264", "-threads", "1", "-pix_fmt", "yuv444p")), traits="h264, 4:4:4",
       **M)
sample("mp4/interlaced.mp4", film("-flags", "+ildct+ilme", "-x264-params", "tff=1", filters=",fps=50,interlace"),
       traits="h264, interlaced", **M)
sample("mp4/full-range.mp4", film("-color_range", "pc", filters=",scale=out_range=full,format=yuvj420p",
                                  codec=("-c:v", "libx264", "-threads", "1")), traits="h264, full range", **M)
HEVC = ("-c:v", "libx265", "-preset", "fast", "-tag:v", "hvc1", "-x265-params",
        "log-level=error:pools=none:frame-threads=1:info=0")
sample("mp4/hevc.mp4", film(codec=(*HEVC, "-pix_fmt", "yuv420p")), traits="hevc, aac", **M)
sample("mp4/hdr.mp4", film("-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
                           codec=(*HEVC, "-pix_fmt", "yuv420p10le")), findings=["omissions left_out hdr"],
       traits="hevc, 10 bit, hdr", **M)
sample("mp4/av1.mp4", film("-b:v", "0", "-cpu-used", "8", "-row-mt", "0", "-threads", "1", crf=45,
                           codec=("-c:v", "libaom-av1", "-pix_fmt", "yuv420p")), traits="av1, aac", **M)
sample("mp4/mpeg4.mp4", film("-q:v", "8", crf=None, codec=("-c:v", "mpeg4")), traits="mpeg-4 part 2, aac", **M)


def variable_rate(kit: Kit, out):
    """Every third and seventh picture is missing, so that no two intervals can be relied on."""
    film("-vsync", "vfr", seconds=3, filters=",select='mod(n,3)*mod(n,7)'")(kit, out)


def long_group(kit: Kit, out):
    kit.ffmpeg(*drift(14)(kit), *H264, "-crf", "30", "-g", "600", "-keyint_min", "600", "-sc_threshold", "0", *AAC,
               "-movflags", "+faststart", out)


sample("mp4/variable-rate.mp4", variable_rate, of="film", traits="h264, variable frame rate", type="video/mp4",
       duration=3.0, **V)
sample("mp4/long-group.mp4", long_group, of="coffee", traits="h264, aac, long group of pictures, longer than 10 s",
       type="video/mp4", duration=14.0, **V)
sample("mp4/long.mp4", lambda kit, out: kit.ffmpeg(
    *drift(18, name="cat")(kit), *H264, "-crf", "32", "-g", "50", *AAC, out), of="cat",
       findings=["omissions limit video 8 18"], traits="h264, aac, longer than 10 s", type="video/mp4", duration=18.0, **V)
sample("mp4/4k.mp4", lambda kit, out: kit.ffmpeg(
    *drift(1, size="3840x2160", fps=10, name="earth")(kit), *H264, "-crf", "38", "-an", out), of="earth",
       traits="h264, 4k", kind="video", type="video/mp4", width=3840, height=2160, duration=1.0)
sample("mp4/60-per-second.mp4", lambda kit, out: kit.ffmpeg(
    *drift(2, fps=60)(kit), *H264, "-crf", "32", *AAC, out), of="coffee", traits="h264, 60 frames per second",
       type="video/mp4", duration=2.0, **V)
sample("mp4/one-frame.mp4", film("-frames:v", "1", audio=SILENT), of="film", traits="h264, one frame",
       type="video/mp4", **V)
sample("mp4/odd-size.mp4", film(size="321:181", audio=SILENT, codec=(
    "-c:v", "libx264", "-threads", "1", "-pix_fmt", "yuv444p")), of="film", traits="h264, odd size, 4:4:4",
       kind="video", type="video/mp4", width=322, height=181, duration=2.0)
sample("mp4/anamorphic.mp4", film(size="240:180", filters=",setsar=4/3"), of="film",
       traits="h264, anamorphic", type="video/mp4", duration=2.0, **V)
sample("mp4/private.mp4", film(
    "-metadata", "location=+12.3456+098.7654/", "-metadata", f"title={CANARY} title", "-metadata",
    f"comment={CANARY} comment", "-metadata", f"artist={CANARY} artist", "-metadata:s:v",
    f"handler_name={CANARY} handler"),
    traits="h264, aac, gps, canary", **M)
sample("mp4/offset.mp4", film("-output_ts_offset", "0.7", "-movflags", "+faststart"),
       traits="h264, aac, edit list, late start", of="film", kind="video", type="video/mp4", width=320, height=180)


def turned(degrees, name, transpose, size):
    """As a phone stores a clip: the pictures turned, and a matrix that turns them back."""
    def make(kit: Kit, out):
        stored = kit.work / ("stored" + out.suffix)
        film(filters=transpose)(kit, stored)
        kit.ffmpeg("-i", stored, "-map", "0", "-c", "copy", "-metadata:s:v:0", f"rotate={degrees}", out)
    kind = "video/quicktime" if name.endswith("mov") else "video/mp4"
    sample(name, make, of="film", traits=f"rotated, rotated {degrees}, h264, aac", kind="video", type=kind,
           width=size[0], height=size[1], duration=2.0)


turned(90, "mp4/rotated-90.mp4", ",transpose=clock", (320, 180))
turned(180, "mp4/rotated-180.mp4", ",hflip,vflip", (320, 180))
turned(270, "mov/rotated.mov", ",transpose=cclock", (320, 180))


def two_sounds(kit: Kit, out):
    kit.ffmpeg("-i", kit.sources["film"], "-i", kit.sources["voice"], "-t", "2", "-map", "0:v", "-map", "1:a", "-map",
               "0:a", "-vf", "scale=320:180", *H264, "-crf", "32", *AAC, "-disposition:a:0", "0", "-disposition:a:1",
               "default", "-metadata:s:a:0", "language=deu", "-metadata:s:a:1", "language=eng", out)


def subtitled(kit: Kit, out):
    subtitles = kit.work / "s.srt"
    subtitles.write_text(f"1\n00:00:00,000 --> 00:00:01,500\n{CANARY} subtitle\n")
    kit.ffmpeg("-i", kit.sources["film"], "-i", subtitles, "-t", "2", "-vf", "scale=320:180", *H264, "-crf", "32", *AAC,
               *(("-c:s", "mov_text") if out.suffix == ".mp4" else ()), out)


def nine_streams(kit: Kit, out):
    kit.ffmpeg("-f", "lavfi", "-t", "1", "-i", "testsrc=size=64x48:rate=5", "-f", "lavfi", "-t", "1", "-i",
               "sine=sample_rate=8000", "-map", "0:v", *["-map", "1:a"] * 8, *H264, "-c:a", "flac", out)


sample("mp4/two-sounds.mp4", two_sounds, findings=["omissions one_taken sound_tracks 0 2"], traits="h264, aac, two sound tracks", **M)
sample("mp4/subtitles.mp4", subtitled, traits="h264, aac, subtitles, canary", **M)
sample("mkv/nine-streams.mkv", nine_streams, traits="many streams", kind="video", type="video/x-matroska", width=64,
       height=48, duration=1.0)
sample("ogv/drawn.ogv", lambda kit, out: kit.ffmpeg(
    "-f", "lavfi", "-i", "testsrc=size=160x96:rate=10:duration=1", "-f", "lavfi", "-i", "sine=sample_rate=22050:duration=1",
    "-c:v", "libtheora", "-q:v", "4", "-c:a", "libvorbis", "-ac", "1", out), traits="theora, vorbis", kind="video",
       type="video/ogg", width=160, height=96, duration=1.0)
sample("wmv/film.wmv", lambda kit, out: kit.ffmpeg(
    "-i", kit.sources["film"], "-t", "1", "-vf", "scale=160:90", "-c:v", "wmv2", "-q:v", "10", "-c:a", "wmav2",
    "-ac", "2", "-b:a", "48k", out), of="film", traits="wmv", kind="video", type="video/x-ms-wmv", width=160, height=90,
       duration=1.0)

# MARK: QuickTime, M4V, 3GP

O = dict(type="video/quicktime", **Q)
sample("mov/phone.mov", film(
    "-movflags", "use_metadata_tags", "-metadata", "com.apple.quicktime.location.ISO6709=+12.3456+098.7654+010.000/",
    "-metadata", f"com.apple.quicktime.model={CANARY} model", "-metadata", f"com.apple.quicktime.make={CANARY} make",
    codec=(*HEVC, "-pix_fmt", "yuv420p")), traits="hevc, aac, gps, canary", **O)
sample("mov/prores.mov", film("-profile:v", "0", "-q:v", "20", crf=None, size="160:90", seconds=1, audio=(
    "-c:a", "pcm_s16le", "-ac", "1", "-ar", "16000"), codec=("-c:v", "prores_ks", "-threads", "1")),
       of="film", traits="prores, pcm", kind="video",
       type="video/quicktime", width=160, height=90, duration=1.0)
sample("mov/timecode.mov", film("-timecode", "01:00:00:00"), traits="h264, aac, timecode", **O)
sample("mov/motion-jpeg.mov", film("-q:v", "12", crf=None, size="160:90", seconds=1, codec=(
    "-c:v", "mjpeg", "-threads", "1", "-pix_fmt", "yuvj420p"), audio=("-c:a", "adpcm_ima_qt", "-ac", "2")), of="film",
       traits="motion jpeg, adpcm", kind="video", type="video/quicktime", width=160, height=90, duration=1.0)
sample("m4v/film.m4v", film("-f", "ipod", "-brand", "M4V "), type="video/x-m4v", traits="h264, aac", **Q)
sample("3gp/film.3gp", film(), type="video/3gpp", traits="h264, aac", **Q)


def old_phone(kit: Kit, out):
    """H.263 and AMR, which FFmpeg copies but doesn't encode."""
    amr = kit.work / "voice.amr"
    kit.run("sox", "-D", kit.sources["voice"], "-r", "8000", "-t", "amr-nb", amr, "trim", "0", "2")
    kit.ffmpeg("-i", kit.sources["film"], "-i", amr, "-t", "2", "-map", "0:v", "-map", "1:a", "-vf",
               "scale=176:144,fps=12", "-c:v", "h263", "-b:v", "150k", "-c:a", "copy", out)


sample("3gp/old-phone.3gp", old_phone, of="film", traits="h263, amr", kind="video", type="video/3gpp", width=256,
       height=144, duration=2.0)

# MARK: MPEG, AVI, WebM, Matroska

MPEG2 = ("-c:v", "mpeg2video", "-q:v", "8", "-threads", "1")
MP2 = ("-c:a", "mp2", "-b:a", "64k")
sample("mpeg/film.mpg", film("-f", "vob", crf=None, codec=MPEG2, audio=MP2), type="video/mpeg",
       traits="mpeg-2, mp2", **Q)
sample("mpeg/interlaced.mpg", film("-f", "vob", "-flags", "+ildct+ilme", "-top", "1", crf=None, codec=MPEG2, audio=MP2,
                                   filters=",fps=50,interlace"), type="video/mpeg", traits="mpeg-2, mp2, interlaced",
       **Q)
sample("mpeg/mpeg-1.mpg", film("-f", "mpeg", crf=None, audio=MP2, codec=(
    "-c:v", "mpeg1video", "-q:v", "8", "-r", "25", "-threads", "1")), type="video/mpeg", traits="mpeg-1, mp2", **Q)
sample("ts/film.ts", film(), type="video/mp2t", traits="h264, aac", **Q)
sample("ts/mpeg-2.ts", film(crf=None, codec=MPEG2, audio=MP2), type="video/mp2t", traits="mpeg-2, mp2", **Q)
sample("ts/film.m2ts", film("-mpegts_m2ts_mode", "1"), type="video/mp2t", traits="h264, aac, 192-byte packets", **Q)
sample("avi/film.avi", film("-q:v", "8", crf=None, codec=("-c:v", "mpeg4", "-vtag", "XVID", "-threads", "1"), audio=(
    "-c:a", "libmp3lame", "-b:a", "64k")), type="video/x-msvideo", traits="mpeg-4 part 2, mp3", **Q)
sample("avi/camera.avi", film("-q:v", "12", crf=None, size="160:120", seconds=1, codec=(
    "-c:v", "mjpeg", "-threads", "1", "-pix_fmt", "yuvj420p"), audio=("-c:a", "pcm_u8", "-ac", "1", "-ar", "11025")),
       of="film", traits="motion jpeg, pcm", kind="video", type="video/x-msvideo", width=213, height=120, duration=1.0)
OPUS = ("-c:a", "libopus", "-b:a", "48k", "-ac", "2")
VP9 = ("-c:v", "libvpx-vp9", "-b:v", "0", "-cpu-used", "5", "-threads", "1")
sample("webm/film.webm", film(codec=VP9, crf=45, audio=OPUS), type="video/webm", traits="vp9, opus", **Q)
sample("webm/vp8.webm", film("-b:v", "200k", "-cpu-used", "5", "-threads", "1", crf=30, codec=("-c:v", "libvpx"),
                             audio=("-c:a", "libvorbis", "-b:a", "64k", "-ac", "2")), type="video/webm",
       traits="vp8, vorbis", **Q)
sample("webm/av1.webm", film("-b:v", "0", "-cpu-used", "8", "-row-mt", "0", "-threads", "1", crf=45, audio=OPUS,
                             codec=("-c:v", "libaom-av1")), type="video/webm", traits="av1, opus", **Q)


def live(kit: Kit, out):
    """As browsers record it: no duration, no index."""
    film("-live", "1", codec=VP9, crf=45, audio=OPUS)(kit, out)


sample("webm/recorded.webm", live, type="video/webm", traits="vp9, opus, no duration in the header", **Q)


def clear_webm(kit: Kit, out):
    disc = "geq=lum=120:a='255*lt(hypot(X-64,Y-48),20+2*N)'"
    kit.ffmpeg("-f", "lavfi", "-t", "1", "-i", f"color=red@0.0:size=128x96:rate=10,format=yuva420p,{disc}", *VP9,
               "-crf", "40", "-auto-alt-ref", "0", "-pix_fmt", "yuva420p", out)


sample("webm/alpha.webm", clear_webm, type="video/webm", findings=["omissions left_out transparency"], traits="vp9, alpha, no sound", kind="video", width=128,
       height=96, duration=1.0)
sample("mkv/film.mkv", film(), type="video/x-matroska", traits="h264, aac", **Q)
sample("mkv/hevc-flac.mkv", film(codec=(*HEVC, "-pix_fmt", "yuv420p"), seconds=2, audio=(
    "-c:a", "flac", "-ac", "1", "-ar", "16000")), type="video/x-matroska", traits="hevc, flac", **Q)
sample("mkv/subtitles.mkv", subtitled, type="video/x-matroska", findings=["omissions left_out subtitles"], traits="h264, aac, subtitles, canary", **Q)
