#include "clock.h"

#include <errno.h>
#include <sys/timex.h>

int csandbox_clock_is_synchronised(void) {
    struct timex clock = {0};
    int state = adjtimex(&clock);
    if (state < 0) return -errno;
    return state != TIME_ERROR && !(clock.status & STA_UNSYNC);
}
