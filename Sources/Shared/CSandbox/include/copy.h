#pragma once

#include <sys/types.h>

/// copy_file_range(2), which the platform's Swift module leaves out. Copies up to `length` bytes between the
/// descriptors' own positions, sharing extents where the file system can. Returns the bytes copied, 0 at the end of
/// the source, or -1 with errno.
ssize_t csandbox_copy_range(int from, int to, size_t length);

/// FICLONE of ioctl(2): gives the empty file `to` the bytes of `from`, in extents that both share until one is written.
/// 0, or -1 with errno where the file system can't.
int csandbox_clone(int from, int to);
