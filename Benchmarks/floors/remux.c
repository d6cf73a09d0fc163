// A bare remux with libavformat: what reading and writing the packets of a part costs, with nothing around it.
//
//   remux START SECONDS OUTPUT INPUT…
//
// Copies from the keyframe at or before START, for so many seconds, and prints what each input took: processor and wall
// time in milliseconds, without the start of the program. The output, in the format that its name has, is written anew
// for each.
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double milliseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static int fail(const char *what, int code) {
    fprintf(stderr, "remux: %s: %s\n", what, av_err2str(code));
    return 1;
}

static int remux(const char *from, const char *to, double start, double seconds) {
    AVFormatContext *input = NULL, *output = NULL;
    int code = avformat_open_input(&input, from, NULL, NULL);
    if (code < 0) return fail(from, code);
    if ((code = avformat_find_stream_info(input, NULL)) < 0) return fail(from, code);
    if ((code = avformat_alloc_output_context2(&output, NULL, NULL, to)) < 0) return fail(to, code);
    for (unsigned i = 0; i < input->nb_streams; i++) {
        AVStream *stream = avformat_new_stream(output, NULL);
        if (!stream) return fail(to, AVERROR(ENOMEM));
        if ((code = avcodec_parameters_copy(stream->codecpar, input->streams[i]->codecpar)) < 0) return fail(to, code);
        stream->codecpar->codec_tag = 0;
        stream->time_base = input->streams[i]->time_base;
    }
    if ((code = avio_open(&output->pb, to, AVIO_FLAG_WRITE)) < 0) return fail(to, code);
    if ((code = avformat_write_header(output, NULL)) < 0) return fail(to, code);
    if ((code = av_seek_frame(input, -1, (int64_t)(start * AV_TIME_BASE), AVSEEK_FLAG_BACKWARD)) < 0)
        return fail("seeking", code);
    AVPacket *packet = av_packet_alloc();
    if (!packet) return fail(to, AVERROR(ENOMEM));
    unsigned ended = 0;
    while (ended < input->nb_streams && av_read_frame(input, packet) >= 0) {
        AVStream *source = input->streams[packet->stream_index];
        double time = packet->dts * av_q2d(source->time_base);
        if (time >= start + seconds + 0.2) {
            ended++;
        } else if (packet->pts * av_q2d(source->time_base) < start + seconds) {
            int64_t shift = (int64_t)(start / av_q2d(source->time_base));
            packet->pts -= shift;
            packet->dts -= shift;
            packet->pos = -1;
            av_packet_rescale_ts(packet, source->time_base, output->streams[packet->stream_index]->time_base);
            if ((code = av_interleaved_write_frame(output, packet)) < 0) return fail("writing", code);
        }
        av_packet_unref(packet);
    }
    if ((code = av_write_trailer(output)) < 0) return fail("writing", code);
    av_packet_free(&packet);
    avio_closep(&output->pb);
    avformat_free_context(output);
    avformat_close_input(&input);
    return 0;
}

int main(int count, char **arguments) {
    if (count < 5) {
        fprintf(stderr, "usage: remux START SECONDS OUTPUT INPUT...\n");
        return 2;
    }
    av_log_set_level(AV_LOG_ERROR);
    for (int i = 4; i < count; i++) {
        double cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID), wall = milliseconds(CLOCK_MONOTONIC);
        if (remux(arguments[i], arguments[3], atof(arguments[1]), atof(arguments[2]))) return 1;
        printf("copy %.3f %.3f\n", milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, milliseconds(CLOCK_MONOTONIC) - wall);
    }
    return 0;
}
