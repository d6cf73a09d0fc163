#define _GNU_SOURCE
#include "sandbox_process.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox_rights.h"

pid_t sandbox_fork(void) {
    return fork();
}

pid_t sandbox_fork_init(int lifeline) {
    pid_t process = fork();
    if (process != 0) return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "codec-init");
    // With SIGCHLD ignored the kernel reaps by itself.
    signal(SIGCHLD, SIG_IGN);
    (void)sandbox_close_all_but(&lifeline, 1);
    sandbox_drop_capabilities();
    sandbox_no_new_privileges();
    char byte;
    while (read(lifeline, &byte, 1) > 0 || errno == EINTR) errno = 0;
    _exit(0);
}

int sandbox_pidfd(pid_t process) {
    int descriptor = pidfd_open(process, 0);
    return descriptor >= 0 ? descriptor : -errno;
}

int sandbox_kill(int pidfd) {
    return pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0 ? 0 : errno;
}

int sandbox_child_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -errno;
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

void sandbox_drain(int descriptor) {
    struct signalfd_siginfo information;
    while (read(descriptor, &information, sizeof information) > 0) {}
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

bool sandbox_reap(pid_t process, struct sandbox_remains *remains) {
    int status;
    struct rusage usage;
    pid_t reaped = wait4(process, &status, WNOHANG, &usage);
    if (reaped <= 0) return false;
    *remains = (struct sandbox_remains){
        .process = reaped,
        .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
        .peak_memory = (int64_t)usage.ru_maxrss * 1024,
    };
    return true;
}

void sandbox_plain_signals(void) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sandbox_unblock_signals();
}

void sandbox_unblock_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static volatile int exit_code_for_memory;

static void about_to_die(int number) {
    int code = errno;
    if (code != ENOMEM) {
        void *probe = mmap(NULL, 32 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (probe != MAP_FAILED) {
            munmap(probe, 32 << 20);
            // Back to what caused it, now with the kernel's own answer.
            errno = code;
            return;
        }
    }
    (void)number;
    _exit(exit_code_for_memory);
}

void sandbox_exit_when_out_of_memory(int exit_code) {
    static char stack[16384];
    static const int fatal[] = {SIGABRT, SIGTRAP, SIGILL, SIGSEGV, SIGBUS};
    exit_code_for_memory = exit_code;
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = about_to_die;
    action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
    for (size_t index = 0; index < sizeof fatal / sizeof *fatal; index++) sigaction(fatal[index], &action, NULL);
}

int sandbox_die_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 ? 0 : errno;
}

int sandbox_usable_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

int64_t sandbox_address_space_used(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    long long pages = 0;
    if (fscanf(file, "%lld", &pages) != 1) pages = 0;
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}
