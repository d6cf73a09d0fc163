/* Preloaded into the service: the time of day is that of the machine plus the seconds that stand in a file.
 *
 * As after a step of a real clock, only the time of day moves: time that passes (CLOCK_MONOTONIC, CLOCK_BOOTTIME) does not, nor do the
 * times of files, which are the kernel's. Waits until a time of day end when they would have by the clock that was set when they began. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t none = 0;
static const volatile int64_t *offset = &none;
static int (*next_gettime)(clockid_t, struct timespec *);
static int (*next_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*next_sem_timedwait)(sem_t *, const struct timespec *);
static int (*next_timerfd_settime)(int, int, const struct itimerspec *, struct itimerspec *);

__attribute__((constructor)) static void begin(void) {
    next_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    next_cond_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    next_sem_timedwait = dlsym(RTLD_NEXT, "sem_timedwait");
    next_timerfd_settime = dlsym(RTLD_NEXT, "timerfd_settime");
    const char *path = getenv("SOAK_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED) offset = page;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int status = next_gettime ? next_gettime(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *offset;
    return status;
}

int gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    struct timespec now;
    int status = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return status;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

/* A moment that is no time of day is one since the machine's start, which is less than thirty years. */
static struct timespec real(struct timespec moment) {
    if (moment.tv_sec > 1000000000) moment.tv_sec -= *offset;
    return moment;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *moment) {
    struct timespec end = real(*moment);
    return next_cond_timedwait(condition, mutex, &end);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *moment) {
    struct timespec end = real(*moment);
    return next_sem_timedwait(semaphore, &end);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *value, struct itimerspec *old) {
    struct itimerspec changed = *value;
    if (flags & TFD_TIMER_ABSTIME) changed.it_value = real(changed.it_value);
    return next_timerfd_settime(timer, flags, &changed, old);
}
