#pragma once

#include <stddef.h>
#include <stdint.h>

// What a decoder that was taken over would try. Each returns 0 where it succeeded, else the errno; a filter may end the
// process first.

int fault_open(const char *_Nonnull path);
int fault_write_file(const char *_Nonnull path);
int fault_connect(uint16_t port);
int fault_fork(void);
int fault_exec(const char *_Nonnull path);
int fault_ptrace(int process);
int fault_signal(int process);
int fault_read_memory(int process);
/// A process limit of another process, raised.
int fault_limit(int process);
int fault_become_root(void);
int fault_namespace(void);
/// Lets others trace it again.
int fault_dumpable(void);

/// Touches memory until there is no more.
void fault_eat_memory(void);
void fault_segfault(void);
void fault_trap(void);
/// Any bytes as a packet.
int fault_send(int socket, const void *_Nonnull bytes, size_t length);

/// The names of ways by which a decoder that was taken over could reach out; NULL behind the last.
const char *_Nullable fault_reach_name(size_t index);
/// Tries one of them. 0 where it succeeded, else the errno; a filter may end the process first.
int fault_reach(const char *_Nonnull name, int source, int conversation);
/// A packet with a descriptor.
int fault_send_descriptor(int socket, int descriptor);
/// `EPERM`, by an errno; NULL for what is none.
const char *_Nullable fault_errno_name(int code);
