#define _GNU_SOURCE
#include "sandbox_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int sandbox_close_all_but(const int *kept, size_t count) {
    int sorted[4];
    size_t used = 0;
    for (size_t index = 0; index < count && used < 4; index++) {
        size_t place = used++;
        while (place > 0 && sorted[place - 1] > kept[index]) {
            sorted[place] = sorted[place - 1];
            place--;
        }
        sorted[place] = kept[index];
    }
    unsigned next = 3;
    for (size_t index = 0; index < used; index++) {
        if (sorted[index] < 3) continue;
        if ((unsigned)sorted[index] > next && close_range(next, (unsigned)sorted[index] - 1, 0) != 0) return errno;
        next = (unsigned)sorted[index] + 1;
    }
    return close_range(next, ~0U, 0) == 0 ? 0 : errno;
}

bool sandbox_has_descriptors_beside(int kept, int end) {
    struct pollfd asked[64];
    nfds_t count = 0;
    for (int descriptor = 3; descriptor < end; descriptor++) {
        if (descriptor != kept) asked[count++] = (struct pollfd){.fd = descriptor};
        if (count < sizeof asked / sizeof *asked && descriptor + 1 < end) continue;
        if (poll(asked, count, 0) < 0) return true;
        for (nfds_t index = 0; index < count; index++)
            if (!(asked[index].revents & POLLNVAL)) return true;
        count = 0;
    }
    return false;
}

size_t sandbox_environment_size(void) {
    size_t count = 0;
    while (environ && environ[count]) count++;
    return count;
}

int sandbox_change_user(uint32_t id) {
    if (setgroups(0, NULL) != 0) return errno;
    if (setresgid(id, id, id) != 0) return errno;
    if (setresuid(id, id, id) != 0) return errno;
    return 0;
}

int sandbox_drop_bounding_set(void) {
    int is_in;
    for (int capability = 0; (is_in = prctl(PR_CAPBSET_READ, capability)) >= 0; capability++)
        if (is_in != 0 && prctl(PR_CAPBSET_DROP, capability) != 0) return errno;
    return 0;
}

int sandbox_drop_capabilities(void) {
    sandbox_drop_bounding_set();
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof data);
    return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

bool sandbox_has_no_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0) return false;
    for (int part = 0; part < 2; part++)
        if (data[part].effective || data[part].permitted || data[part].inheritable) return false;
    return true;
}

int sandbox_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

bool sandbox_has_no_new_privileges(void) {
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

int sandbox_not_dumpable(void) {
    return prctl(PR_SET_DUMPABLE, 0) == 0 ? 0 : errno;
}

bool sandbox_is_dumpable(void) {
    return prctl(PR_GET_DUMPABLE) != 0;
}

const uint64_t sandbox_unlimited = RLIM_INFINITY;

static const int resources[] = {
    [sandbox_address_space] = RLIMIT_AS,   [sandbox_cpu_seconds] = RLIMIT_CPU,
    [sandbox_file_bytes] = RLIMIT_FSIZE,   [sandbox_descriptors] = RLIMIT_NOFILE,
    [sandbox_core_bytes] = RLIMIT_CORE,    [sandbox_processes] = RLIMIT_NPROC,
};

int sandbox_limit(pid_t process, enum sandbox_resource resource, uint64_t soft, uint64_t hard) {
    struct rlimit present, wanted;
    if (prlimit(process, resources[resource], NULL, &present) != 0) return errno;
    wanted.rlim_max = hard < present.rlim_max ? hard : present.rlim_max;
    wanted.rlim_cur = soft < wanted.rlim_max ? soft : wanted.rlim_max;
    return prlimit(process, resources[resource], &wanted, NULL) == 0 ? 0 : errno;
}

uint64_t sandbox_limit_of(enum sandbox_resource resource) {
    struct rlimit present;
    return getrlimit(resources[resource], &present) == 0 ? present.rlim_cur : RLIM_INFINITY;
}
