#pragma once

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/// Loads FFmpeg's libraries, of the major versions that these headers are of; once, and while no other thread calls them.
///
/// Nothing links them: loading them takes two thirds of the time in which a codec starts, and every process that is forked
/// has to copy their mappings. Whoever calls one of their functions before ends the process with a message.
///
/// - Returns: Null, or what is missing, in the loader's words; valid until the next call.
const char *_Nullable satchel_load_ffmpeg(void);

// Macros that Swift cannot import. Nothing here keeps state: a header's static would exist once per importing file.

/// What FFmpeg returns for the errno `code`.
static inline int satchel_averror(int code) { return AVERROR(code); }

static const int satchel_averror_eof = AVERROR_EOF;
static const int satchel_averror_invaliddata = AVERROR_INVALIDDATA;
static const int satchel_averror_decoder_not_found = AVERROR_DECODER_NOT_FOUND;
static const int satchel_averror_exit = AVERROR_EXIT;

/// The timestamp that means "none".
static const int64_t satchel_no_pts = AV_NOPTS_VALUE;

/// A fourcc as codec tags have it.
static inline uint32_t satchel_tag(char a, char b, char c, char d) { return MKTAG(a, b, c, d); }

/// The native layout of one channel or of two.
static inline AVChannelLayout satchel_layout_mono(void) { return (AVChannelLayout)AV_CHANNEL_LAYOUT_MONO; }
static inline AVChannelLayout satchel_layout_stereo(void) { return (AVChannelLayout)AV_CHANNEL_LAYOUT_STEREO; }

/// What is wrong in FFmpeg's words; `text` has room for `capacity` bytes and is always terminated.
static inline void satchel_describe(int code, char *_Nonnull text, size_t capacity) {
    if (av_strerror(code, text, capacity) < 0 && capacity > 0) text[0] = 0;
}

/// The address of a log line's class name, or null; valid as long as `context` lives.
static inline const char *_Nullable satchel_log_name(void *_Nullable context) {
    if (!context) return 0;
    const AVClass *class = *(const AVClass *const *)context;
    return class && class->item_name ? class->item_name(context) : 0;
}

/// Whether `codec`, which may be null, decodes.
static inline int satchel_is_decoder(const AVCodec *_Nullable codec) { return codec && av_codec_is_decoder(codec); }
