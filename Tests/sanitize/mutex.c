/* Tells the thread sanitizer of the half of Swift's Mutex that it cannot see. Preloaded by Tests/sanitize.sh.
 *
 * On Linux the part of Synchronization.Mutex that takes a free lock is inlined into its users, whose atomic accesses the sanitizer sees.
 * Where the lock is contended they call `_lockSlow` and `_unlockSlow`, which lie in the toolchain's libswiftSynchronization.so, which is
 * not built for the sanitizer. So a thread that waited is not known to come after the one that let it in, and what the lock guards is
 * reported as "Swift access race". Suppressions cannot help: what would have to be named is each of our functions that holds a lock.
 *
 * Both calls are passed on and the sanitizer is told what they mean: unlocking releases what was done so far, locking acquires it. It is
 * told no more than that, so whoever doesn't hold the lock is still reported. Tests/sanitize.sh tries all three with mutex.swift before
 * it believes a silent run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

/* Of the sanitizer, in programs that are built for it; other programs, which tests start, inherit the preloading. */
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

/* Synchronization._MutexHandle._lockSlow(UInt32) and ._unlockSlow() */
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void locking(uint32_t thread, SELF void *handle);
typedef SWIFT void unlocking(SELF void *handle);

SWIFT void lock_slow(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *handle) __asm__(UNLOCK);

static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "mutex.c: there is no %s: Swift's Mutex has changed\n", name);
        abort();
    }
    return function;
}

SWIFT void lock_slow(uint32_t thread, SELF void *handle) {
    ((locking *)next(LOCK))(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock_slow(SELF void *handle) {
    if (__tsan_release) __tsan_release(handle);
    ((unlocking *)next(UNLOCK))(handle);
}
