#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What a process gives up. Functions return 0, or the errno.

/// Closes all descriptors but the `count` (at most 4) in `kept`; 0, 1 and 2 become what `kept` doesn't need: they stay
/// open on nothing, so that no other file takes their number.
void sandbox_close_all_but(const int *_Nonnull kept, size_t count);

/// Opens /dev/null as 0 and 1, and as 2 where `errors_too`.
int sandbox_silence(bool errors_too);

/// Takes on a user and a group id for good, without other groups.
int sandbox_change_user(uint32_t id);

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
