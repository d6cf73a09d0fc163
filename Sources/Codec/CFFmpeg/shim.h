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

// Macros that Swift cannot import. Nothing here keeps state: a header's static would exist once per importing file.

/// What FFmpeg returns for the errno `code`.
static inline int satchel_averror(int code) { return AVERROR(code); }

static const int satchel_averror_eof = AVERROR_EOF;
static const int satchel_averror_invaliddata = AVERROR_INVALIDDATA;
static const int satchel_averror_decoder_not_found = AVERROR_DECODER_NOT_FOUND;
static const int satchel_averror_exit = AVERROR_EXIT;

/// The timestamp that means "none".
static const int64_t satchel_no_pts = AV_NOPTS_VALUE;

// What FFmpeg 5.1 (Debian 12) and 7.1 (Debian 13) call differently; nothing else of the sources tells them apart.

#define SATCHEL_FFMPEG_7 (LIBAVFORMAT_VERSION_MAJOR >= 61)

/// What the container says beside a stream's packets; null where it says nothing. `bytes` is set where there is some.
static inline uint8_t *_Nullable satchel_stream_side_data(
    const AVStream *_Nonnull stream, enum AVPacketSideDataType type, size_t *_Nonnull bytes) {
#if SATCHEL_FFMPEG_7
    const AVCodecParameters *of = stream->codecpar;
    const AVPacketSideData *found = av_packet_side_data_get(of->coded_side_data, of->nb_coded_side_data, type);
    if (!found) return 0;
    *bytes = found->size;
    return found->data;
#else
    return av_stream_get_side_data(stream, type, bytes);
#endif
}

/// Room for `bytes` to be said beside a stream's packets, in place of what was said; null where there is no memory.
static inline uint8_t *_Nullable satchel_new_stream_side_data(
    AVStream *_Nonnull stream, enum AVPacketSideDataType type, size_t bytes) {
#if SATCHEL_FFMPEG_7
    AVCodecParameters *of = stream->codecpar;
    AVPacketSideData *made = av_packet_side_data_new(&of->coded_side_data, &of->nb_coded_side_data, type, bytes, 0);
    return made ? made->data : 0;
#else
    return av_stream_new_side_data(stream, type, bytes);
#endif
}

/// How long a frame is shown, in the time base of its stream; 0 where nothing says.
static inline int64_t satchel_frame_duration(const AVFrame *_Nonnull frame) {
#if SATCHEL_FFMPEG_7
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

/// Whether a frame is two fields, of two moments.
static inline int satchel_is_interlaced(const AVFrame *_Nonnull frame) {
#if SATCHEL_FFMPEG_7
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame;
#endif
}

/// Says of frames that go into a chain of filters what `frame` says of its colours; 5.1 asks each frame itself.
static inline void satchel_describe_colours(AVBufferSrcParameters *_Nonnull source, const AVFrame *_Nonnull frame) {
#if SATCHEL_FFMPEG_7
    source->color_space = frame->colorspace;
    source->color_range = frame->color_range;
#endif
}

/// Takes `count` bytes; answers how many, or an error.
typedef int (*satchel_write)(void *_Nullable opaque, const uint8_t *_Nullable bytes, int count);

/// avio_alloc_context, which hands bytes out as mutable in 5.1. Either of `read` and `write` is null.
static inline AVIOContext *_Nullable satchel_avio(
    unsigned char *_Nonnull buffer, int bytes, void *_Nullable opaque,
    int (*_Nullable read)(void *_Nullable opaque, uint8_t *_Nullable bytes, int count), satchel_write _Nullable write,
    int64_t (*_Nullable seek)(void *_Nullable opaque, int64_t offset, int whence)) {
#if SATCHEL_FFMPEG_7
    return avio_alloc_context(buffer, bytes, write != 0, opaque, read, write, seek);
#else
    return avio_alloc_context(buffer, bytes, write != 0, opaque, read, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

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
