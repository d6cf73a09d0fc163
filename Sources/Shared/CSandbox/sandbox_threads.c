#define _GNU_SOURCE
#include "sandbox_threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OTHER_CREATE 1
#endif
#endif

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static int exit_code_for_threads, exit_code_for_memory;

#ifndef HAS_OTHER_CREATE
static create *libc_create;

static bool has_room_for_stack(const pthread_attr_t *attributes) {
    size_t size = 8 << 20;
    if (attributes) pthread_attr_getstacksize(attributes, &size);
    void *stack = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return stack != MAP_FAILED && munmap(stack, size) == 0;
}

// A program's own function comes before the C library's, for every library that the program loads.
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    create *start = __atomic_load_n(&libc_create, __ATOMIC_RELAXED);
    if (!start) {
        start = (create *)dlsym(RTLD_NEXT, "pthread_create");
        if (!start) return EAGAIN;
        __atomic_store_n(&libc_create, start, __ATOMIC_RELAXED);
    }
    int code = start(thread, attributes, body, argument);
    if (code != EAGAIN || !exit_code_for_threads) return code;
    if (!has_room_for_stack(attributes)) _exit(exit_code_for_memory);
    for (long pause = 1; code == EAGAIN && pause <= 512; pause *= 2) {
        struct timespec time = {.tv_nsec = pause * 1000000};
        nanosleep(&time, NULL);
        code = start(thread, attributes, body, argument);
    }
    if (code == EAGAIN) _exit(exit_code_for_threads);
    return code;
}
#endif

void sandbox_exit_when_out_of_threads(int exit_code, int memory_code) {
    exit_code_for_threads = exit_code;
    exit_code_for_memory = memory_code;
}

static void *wait_for_gate(void *gate) {
    pthread_rwlock_rdlock(gate);
    return NULL;
}

int sandbox_startable_threads(int most) {
    pthread_t *threads = malloc((size_t)most * sizeof *threads);
    if (!threads) return 0;
    pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_rwlock_wrlock(&gate);
    int count = 0;
    while (count < most && pthread_create(&threads[count], &attributes, wait_for_gate, &gate) == 0) count++;
    pthread_rwlock_unlock(&gate);
    for (int index = 0; index < count; index++) pthread_join(threads[index], NULL);
    pthread_attr_destroy(&attributes);
    free(threads);
    return count;
}
