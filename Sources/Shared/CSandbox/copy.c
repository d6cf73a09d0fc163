#define _GNU_SOURCE
#include "copy.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

ssize_t csandbox_copy_range(int from, int to, size_t length) {
    return copy_file_range(from, NULL, to, NULL, length, 0);
}

int csandbox_clone(int from, int to) {
    return ioctl(to, FICLONE, from);
}
