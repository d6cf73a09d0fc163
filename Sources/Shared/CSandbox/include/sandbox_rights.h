#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What a process gives up. Functions return 0, or the errno.

/// Closes all descriptors from 3 on but the `count` (at most 4) in `kept`. What lies below stays, so that no other file
/// takes the number of the standard error.
int sandbox_close_all_but(const int *_Nonnull kept, size_t count);

/// Whether a descriptor from 3 on and below `end` is open, beside `kept`.
bool sandbox_has_descriptors_beside(int kept, int end);

/// The number of variables in the environment.
size_t sandbox_environment_size(void);

/// Takes on a user and a group id for good, without other groups.
int sandbox_change_user(uint32_t id);

/// Empties the set of capabilities that a program can gain. Needs CAP_SETPCAP.
int sandbox_drop_bounding_set(void);

/// Empties all sets of capabilities; the bounding set only where the caller has CAP_SETPCAP, without which (and with
/// no new privileges) it grants nothing.
int sandbox_drop_capabilities(void);
bool sandbox_has_no_capabilities(void);

int sandbox_no_new_privileges(void);
bool sandbox_has_no_new_privileges(void);

int sandbox_not_dumpable(void);
bool sandbox_is_dumpable(void);

/// What setrlimit(2) counts.
enum sandbox_resource {
    sandbox_address_space,
    sandbox_cpu_seconds,
    sandbox_file_bytes,
    sandbox_descriptors,
    sandbox_core_bytes,
    sandbox_processes,
};

/// The value for no limit.
extern const uint64_t sandbox_unlimited;

/// Limits `process` (0: the caller). What is over the present hard limit is cut to it.
int sandbox_limit(pid_t process, enum sandbox_resource resource, uint64_t soft, uint64_t hard);
/// The caller's soft limit.
uint64_t sandbox_limit_of(enum sandbox_resource resource);
