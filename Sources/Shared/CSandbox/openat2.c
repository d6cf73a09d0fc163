#define _GNU_SOURCE
#include "openat2.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

const int csandbox_path_only = O_PATH;

int csandbox_open_beneath(int root, const char *path, int flags) {
    struct open_how how = {
        .flags = (unsigned long long)(unsigned int)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    // EAGAIN: a rename elsewhere in the tree kept the kernel from proving that the path stays beneath the root.
    for (int attempt = 0; ; attempt++) {
        long descriptor = syscall(SYS_openat2, root, path, &how, sizeof how);
        if (descriptor >= 0 || (errno != EINTR && (errno != EAGAIN || attempt >= 100))) return (int)descriptor;
    }
}
