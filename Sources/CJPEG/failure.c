#include "failure.h"

#include <string.h>

/// As libvips has it. The largest files of encoders have 10 to 20 scans; each costs a pass over the whole picture.
static const int most_scans = 100;

static void leave(j_common_ptr info) {
    satchel_jpeg_failure *failure = (satchel_jpeg_failure *)info->err;
    info->err->format_message(info, failure->message);
    longjmp(failure->out, 1);
}

/// A file that ends too early is an error and not a grey area; what else libjpeg wonders at, cameras write.
static void warn(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) leave(info);
}

static void say_nothing(j_common_ptr info) { (void)info; }

struct jpeg_error_mgr *satchel_jpeg_catch(satchel_jpeg_failure *failure) {
    struct jpeg_error_mgr *manager = jpeg_std_error(&failure->manager);
    manager->error_exit = leave;
    manager->emit_message = warn;
    manager->output_message = say_nothing;
    failure->message[0] = 0;
    return manager;
}

static void look(j_common_ptr info) {
    satchel_jpeg_progress *progress = (satchel_jpeg_progress *)info->progress;
    const char *reason = NULL;
    if (progress->stops()) reason = "no time is left";
    if (info->is_decompressor && ((j_decompress_ptr)info)->input_scan_number > most_scans) reason = "too many scans";
    if (!reason) return;
    satchel_jpeg_failure *failure = (satchel_jpeg_failure *)info->err;
    strcpy(failure->message, reason);
    longjmp(failure->out, 1);
}

void satchel_jpeg_watch(satchel_jpeg_progress *progress, j_common_ptr info, satchel_jpeg_stops stops) {
    progress->stops = stops;
    progress->manager.progress_monitor = look;
    info->progress = &progress->manager;
}
