#pragma once

#pragma clang assume_nonnull begin

/// Opens `path` beneath the directory `root` and returns the descriptor, or -1 with `errno` set.
///
/// No component of `path` may be a link of any kind or lead out of `root` (ELOOP, EXDEV); `flags` are those of open(2),
/// without O_CREAT. ENOSYS where the kernel is older than 5.6 or hides openat2(2).
int csandbox_open_beneath(int root, const char *path, int flags);

/// O_PATH, which the C library shows only to GNU sources: a descriptor that names a file without opening it.
extern const int csandbox_path_only;

#pragma clang assume_nonnull end
