// What a node's machine is like: how far its wall clock is off, and how slow its scratch disk is.
//
// The test preloads this library and changes the page that MACHINE names while the program runs. Reading the page needs no
// system call. Monotonic clocks and waits by them stay as they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// As `Machine` in machine.py writes it.
struct page {
    int64_t clock;  // nanoseconds beside the truth
    int64_t pause;  // nanoseconds of each write to the disk
    uint64_t disk;  // its device number
};

static const struct page truth;
static const volatile struct page *page = &truth;

__attribute__((constructor)) static void open_page(void) {
    const char *path = getenv("MACHINE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *found = mmap(NULL, sizeof(struct page), PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) page = found;
    close(file);
}

// Declares `real`, the function that this library stands before.
#define REAL(name)                   \
    static __typeof__(&name) real;   \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static struct timespec shifted(struct timespec time, int64_t by) {
    int64_t whole = time.tv_sec * 1000000000LL + time.tv_nsec + by;
    return (struct timespec){.tv_sec = whole / 1000000000LL, .tv_nsec = whole % 1000000000LL};
}

// MARK: The wall clock

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    int status = real(clock, now);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) *now = shifted(*now, page->clock);
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec time;
    int status = clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    return status;
}

time_t time(time_t *stored) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (stored) *stored = now.tv_sec;
    return now.tv_sec;
}

// A wait until a time of the wall clock ends by the machine's own. Times of the monotonic clock are smaller.
static struct timespec end_of_wait(const struct timespec *end) {
    return end->tv_sec > 1000000000LL ? shifted(*end, -page->clock) : *end;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict end) {
    REAL(sem_timedwait);
    struct timespec own = end_of_wait(end);
    return real(semaphore, &own);
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict end) {
    REAL(pthread_cond_timedwait);
    struct timespec own = end_of_wait(end);
    return real(condition, mutex, &own);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *value, struct itimerspec *old) {
    REAL(timerfd_settime);
    struct itimerspec own = *value;
    if (flags & TFD_TIMER_ABSTIME) own.it_value = end_of_wait(&own.it_value);
    return real(timer, flags, &own, old);
}

// MARK: The disk

static void pause_at(int file) {
    struct timespec pause = shifted((struct timespec){0}, page->pause);
    struct stat found;
    int error = errno;
    if (page->pause > 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_dev == page->disk)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    errno = error;
}

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(write);
    pause_at(file);
    return real(file, bytes, count);
}

ssize_t writev(int file, const struct iovec *pieces, int count) {
    REAL(writev);
    pause_at(file);
    return real(file, pieces, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    pause_at(file);
    return real(file, bytes, count, offset);
}

int fsync(int file) {
    REAL(fsync);
    pause_at(file);
    return real(file);
}

int fdatasync(int file) {
    REAL(fdatasync);
    pause_at(file);
    return real(file);
}
