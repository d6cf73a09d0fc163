"""Runs a program in a directory as Docker runs one in a container: its own processes and mounts, few capabilities, and
system calls refused as by Docker's default profile."""

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field

# What Docker leaves a container's root; by the numbers of <linux/capability.h>.
DOCKER_CAPABILITIES = {
    "chown": 0, "dac_override": 1, "fowner": 3, "fsetid": 4, "kill": 5, "setgid": 6, "setuid": 7, "setpcap": 8,
    "net_bind_service": 10, "net_raw": 13, "sys_chroot": 18, "mknod": 27, "audit_write": 29, "setfcap": 31,
}

# What Docker's default profile refuses a container without further capabilities, with EPERM. The profile itself is a list
# of what is allowed; these are the calls that it leaves out or makes depend on a capability, as far as the kernel and
# libseccomp know them.
REFUSED = """
    acct add_key bpf clock_settime create_module delete_module fanotify_init finit_module fsconfig fsmount
    fsopen fspick get_kernel_syms get_mempolicy init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp
    kexec_file_load kexec_load keyctl lookup_dcookie mbind migrate_pages mount mount_setattr move_mount move_pages nfsservctl
    open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root process_madvise query_module quotactl
    quotactl_fd reboot request_key set_mempolicy set_mempolicy_home_node setdomainname sethostname setns settimeofday stime
    swapoff swapon _sysctl sysfs syslog umount umount2 unshare uselib userfaultfd ustat vhangup vm86 vm86old
""".split()
# What Docker before version 23 refuses too: its profile is older than Landlock.
REFUSED_BEFORE_LANDLOCK = ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"]
# CLONE_NEW* of <linux/sched.h>, all but the one for time.
NAMESPACE_FLAGS = 0x7E020000
# Of sockets: AF_ALG, which containerd refuses too, and AF_VSOCK.
REFUSED_FAMILIES = [38, 40]


@dataclass
class Container:
    root: str
    user: str = "0:0"
    environment: dict = field(default_factory=dict)
    directory: str = "/"
    # Directories of the image that are mounted from elsewhere: path inside → directory outside.
    volumes: dict = field(default_factory=dict)
    # `--read-only` with `--tmpfs /tmp`.
    read_only: bool = False
    # `--cap-drop ALL`.
    drop_capabilities: bool = False
    # `--privileged`, but for the devices.
    privileged: bool = False
    # `--security-opt no-new-privileges`.
    no_new_privileges: bool = False
    # None: `--security-opt seccomp=unconfined`; "default", or "old" without Landlock.
    seccomp: str = "default"

    def prefix(self):
        """What comes before a program and its arguments."""
        here = os.path.abspath(__file__)
        return [
            "unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount", "--ipc", "--uts",
            sys.executable, here, json.dumps(asdict(self)),
        ]

    def run(self, *arguments, **options):
        return subprocess.run(
            [*self.prefix(), *arguments], check=False, text=True, stdin=subprocess.DEVNULL, capture_output=True, **options)

    def start(self, *arguments, **options):
        return subprocess.Popen([*self.prefix(), *arguments], text=True, stdin=subprocess.DEVNULL, **options)


libc = ctypes.CDLL(None, use_errno=True)
seccomp = ctypes.CDLL("libseccomp.so.2")
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
# glibc has no function for it.
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 38, 47, 4


def check(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def mount(source, target, kind=None, flags=0, options=None):
    encode = lambda text: None if text is None else text.encode()
    check(libc.mount(encode(source), target.encode(), encode(kind), flags, encode(options)), f"mount {target}")


def enter_root(container):
    root = container.root
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount(root, root, None, MS_BIND)
    for inside, outside in container.volumes.items():
        mount(outside, root + inside, None, MS_BIND)
    mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("tmpfs", root + "/dev", "tmpfs", MS_NOSUID, "mode=755,size=65536k")
    for name in ("null", "zero", "full", "random", "urandom"):
        open(f"{root}/dev/{name}", "w", encoding="utf-8").close()
        mount(f"/dev/{name}", f"{root}/dev/{name}", None, MS_BIND)
    os.symlink("/proc/self/fd", root + "/dev/fd")
    os.mkdir(root + "/dev/shm")
    mount("shm", root + "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=1777,size=65536k")
    mount("/sys", root + "/sys", None, MS_BIND | MS_REC)
    mount(None, root + "/sys", None, MS_BIND | MS_REMOUNT | MS_RDONLY)
    for path in ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"):
        if not os.path.exists(root + path):
            continue
        mount(root + path, root + path, None, MS_BIND)
        mount(None, root + path, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
    for path in ("/proc/kcore", "/proc/keys", "/proc/timer_list"):
        if os.path.exists(root + path):
            mount("/dev/null", root + path, None, MS_BIND)
    if container.read_only:
        mount("tmpfs", root + "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=1777")
        mount(None, root, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
    # As an engine does: after chroot the kernel would refuse user namespaces.
    os.chdir(root)
    check(libc.syscall(ctypes.c_long(PIVOT_ROOT[os.uname().machine]), b".", b"."), "pivot_root")
    check(libc.umount2(b".", MNT_DETACH), "umount2")
    os.chdir(container.directory)


def refuse_calls(profile):
    """Loads the filter; while there are capabilities, so that it needs no no-new-privileges, as in Docker."""
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]

    class Comparison(ctypes.Structure):
        _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]

    allow, errno = 0x7FFF0000, lambda code: 0x00050000 | code
    equal = 4
    eperm, enosys = 1, 38
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(allow)))
    # SCMP_FLTATR_CTL_NNP is 3.
    check(-abs(seccomp.seccomp_attr_set(context, 3, 0)), "seccomp_attr_set")

    def refuse(name, code, *comparisons):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number == -1:
            return
        array = (Comparison * max(1, len(comparisons)))(*comparisons)
        result = seccomp.seccomp_rule_add_array(context, ctypes.c_uint32(errno(code)), number, len(comparisons), array)
        # Calls of other processors can't be refused on this one.
        if result != 0 and number >= 0:
            raise OSError(-result, f"seccomp_rule_add {name}")

    for name in REFUSED + (REFUSED_BEFORE_LANDLOCK if profile == "old" else []):
        refuse(name, eperm)
    refuse("clone3", enosys)
    for bit in range(32):
        if NAMESPACE_FLAGS >> bit & 1:
            # SCMP_CMP_MASKED_EQ is 7: the flag is set.
            refuse("clone", eperm, Comparison(0, 7, 1 << bit, 1 << bit))
    for family in REFUSED_FAMILIES:
        refuse("socket", eperm, Comparison(0, equal, family, 0))
    check(-abs(seccomp.seccomp_load(context)), "seccomp_load")


def give_up_rights(container):
    if container.privileged:
        return
    kept = set() if container.drop_capabilities else set(DOCKER_CAPABILITIES.values())
    with open("/proc/sys/kernel/cap_last_cap", encoding="utf-8") as file:
        last = int(file.read())
    user, _, group = container.user.partition(":")
    for number in range(last + 1):
        if number not in kept:
            check(libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0), "prctl")
    os.setgroups([])
    os.setgid(int(group or user))
    os.setuid(int(user))
    check(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "prctl")
    # Root has, after execve, what the bounding set leaves; any other user nothing.
    if container.no_new_privileges:
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def main():
    container = Container(**json.loads(sys.argv[1]))
    enter_root(container)
    if container.seccomp:
        refuse_calls(container.seccomp)
    give_up_rights(container)
    os.execvpe(sys.argv[2], sys.argv[2:], container.environment)


if __name__ == "__main__":
    main()
