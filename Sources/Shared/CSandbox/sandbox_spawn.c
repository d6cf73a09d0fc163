#define _GNU_SOURCE
#include "sandbox_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#define MOST_STRINGS 64

static int split(const char *strings, size_t length, char **list) {
    size_t count = 0;
    for (size_t start = 0; start < length; start += strlen(strings + start) + 1) {
        if (count == MOST_STRINGS) return E2BIG;
        list[count++] = (char *)strings + start;
    }
    list[count] = NULL;
    return 0;
}

pid_t sandbox_spawn(const char *path, const char *arguments, size_t arguments_length, const char *environment,
                    size_t environment_length, int descriptor) {
    char *argument_list[MOST_STRINGS + 1], *environment_list[MOST_STRINGS + 1];
    int code = split(arguments, arguments_length, argument_list);
    if (code == 0) code = split(environment, environment_length, environment_list);
    if (code != 0) return -code;

    // dup2 onto itself would keep close-on-exec: a number out of the way first.
    int source = fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
    if (source < 0) return -errno;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, source, 3);
    posix_spawn_file_actions_addclosefrom_np(&actions, 4);

    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A session of its own: an interrupt typed at the terminal is the service's to handle.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);

    pid_t process = -1;
    code = posix_spawn(&process, path, &actions, &attributes, argument_list, environment_list);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(source);
    return code == 0 ? process : -code;
}
