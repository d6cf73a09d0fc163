#pragma once

#include <stddef.h>
#include <sys/types.h>

/// Starts a program in a session of its own with `descriptor` as its descriptor 3, /dev/null as 0 and 1, the caller's
/// 2, and nothing else: no other descriptor, no blocked or ignored signal, no variable but those in `environment`.
///
/// `arguments` and `environment` are strings that each end in NUL, `…_length` bytes in all; the first argument is the
/// program's name. Returns the process, or a negative errno.
pid_t sandbox_spawn(const char *_Nonnull path, const char *_Nonnull arguments, size_t arguments_length,
                    const char *_Nonnull environment, size_t environment_length, int descriptor);
