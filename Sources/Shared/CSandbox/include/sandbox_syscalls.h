#pragma once

#include <stdbool.h>

/// Compiles the allow-list of system calls, once in a zygote, so that each fork only puts in its own number. 0, or
/// the errno.
int sandbox_prepare_syscalls(void);

/// Puts the allow-list into force for all threads of the caller, for good. Needs `sandbox_prepare_syscalls` and no new
/// privileges. 0, or the errno.
int sandbox_confine_syscalls(void);

/// Whether a filter is in force.
bool sandbox_has_confined_syscalls(void);
