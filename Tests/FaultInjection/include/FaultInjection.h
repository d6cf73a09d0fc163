#pragma once

#include <stddef.h>
#include <stdint.h>

// What a decoder that was taken over would try. Each returns 0 where it succeeded, else the errno; a filter may end the
// process first.

int misdeed_open(const char *_Nonnull path);
int misdeed_write_file(const char *_Nonnull path);
int misdeed_connect(uint16_t port);
int misdeed_fork(void);
int misdeed_exec(const char *_Nonnull path);
int misdeed_ptrace(int process);
int misdeed_signal(int process);
int misdeed_read_memory(int process);
/// A process limit of another process, raised.
int misdeed_limit(int process);
int misdeed_become_root(void);
int misdeed_namespace(void);
/// Lets others trace it again.
int misdeed_dumpable(void);

/// Touches memory until there is no more.
void misdeed_eat_memory(void);
void misdeed_segfault(void);
void misdeed_trap(void);
/// Any bytes as a packet.
int misdeed_send(int socket, const void *_Nonnull bytes, size_t length);
