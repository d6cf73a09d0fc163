#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// fork(2), for a process with one thread.
pid_t sandbox_fork(void);

/// Forks a process that does nothing but take in orphans until `lifeline` (a pipe's read end) ends or its parent dies.
/// Process 1 of a new process namespace; its death kills all others there.
pid_t sandbox_fork_init(int lifeline);

/// A descriptor for a process, closed on exec; or a negative errno.
int sandbox_pidfd(pid_t process);

/// SIGKILL through a pidfd. 0, or the errno.
int sandbox_kill(int pidfd);

/// Blocks SIGCHLD and returns a descriptor that is readable while a child may be reaped; or a negative errno.
int sandbox_child_signals(void);

/// Forgets the signals that were read from `descriptor`.
void sandbox_drain(int descriptor);

/// What is left of a process.
struct sandbox_remains {
    pid_t process;
    /// -1 where a signal ended it.
    int exit_code;
    /// 0 where it ended by itself.
    int signal;
    double cpu_seconds;
    /// Bytes.
    int64_t peak_memory;
};

/// Reaps `process`, or any child where it is -1, without waiting. Whether there was one.
bool sandbox_reap(pid_t process, struct sandbox_remains *_Nonnull remains);

/// Signals as a confined process wants them: none blocked, all as the kernel has them, and an error instead of a
/// signal for a broken pipe or a file that is too large.
void sandbox_plain_signals(void);

/// Blocks no signal; what becomes of each stays as it is.
void sandbox_unblock_signals(void);

/// Ends the process with `exit_code` when it is about to die of a refused allocation: a fatal signal while the address
/// space is used up, or right after an allocation failed.
void sandbox_exit_when_out_of_memory(int exit_code);

/// Ends the process when its parent dies. 0, or the errno.
int sandbox_die_with_parent(void);

/// Processors that the caller may run on; 0 where the kernel doesn't say.
int sandbox_usable_processors(void);

/// Bytes of address space that the caller has mapped; 0 where /proc is not there.
int64_t sandbox_address_space_used(void);
