import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc

/// What a zygote found out about its machine before it forks.
struct SandboxConfiguration: Sendable {
    var policy: SandboxPolicy
    /// A test's way to a machine that lacks something.
    var withheld: Set<SandboxLayer>
    /// The zygote's own layers: environment and namespaces.
    var zygote: [SandboxLayerReport]
    var startedAsRoot: Bool

    /// User ids that no account has, by systemd's table of them: 0x7000'0000 to 0x7FFF'FFFF is unused.
    static let users: Range<UInt32> = 0x7000_0000..<0x8000_0000
    /// Where those aren't mapped, as in some containers.
    static let nobody: UInt32 = 65534

    /// Descriptors that a process may have: three silent ones, its socket, a source, five outputs, and what threads
    /// wake each other with.
    static let descriptors: UInt64 = 64
    /// Threads of one user id.
    static let threads: UInt64 = 128
}

extension SandboxConfiguration {
    /// Gives up, in a process that was just forked, all that it isn't to have.
    ///
    /// - Parameters:
    ///   - user: The user id to take on, where the zygote was started as root.
    ///   - thorough: Tries what is denied, too. Only for the zygote's trial.
    /// - Returns: What holds, looked at afterwards.
    func confine(keeping socket: Int32, user: UInt32?, thorough: Bool) -> [SandboxLayerReport] {
        var reports = zygote
        func note(_ layer: SandboxLayer, _ code: Int32, holds: Bool, _ reason: String = "") {
            if withheld.contains(layer) {
                reports.append(SandboxLayerReport(layer, .missing, reason: "withheld"))
            } else if code != 0 {
                reports.append(SandboxLayerReport(layer, .missing, reason: SystemError("", code: code).reason))
            } else {
                reports.append(SandboxLayerReport(layer, holds ? .holds : .missing, reason: reason))
            }
        }
        func apply(_ layer: SandboxLayer, _ step: () -> Int32) -> Int32 {
            withheld.contains(layer) ? 0 : step()
        }

        dup2(0, 2)
        let closeCode = apply(.descriptors) { unsafe sandbox_close_all_but([socket], 1) }
        note(.descriptors, closeCode, holds: !sandbox_has_descriptors_beside(socket, Int32(Self.descriptors)))
        // The zygote has plain ones.
        sandbox_unblock_signals()

        // The bounding set first: afterwards there is no capability left to empty it with.
        var userCode: Int32 = 0
        if let user, !withheld.contains(.user) {
            _ = apply(.capabilities, sandbox_drop_bounding_set)
            userCode = sandbox_change_user(user)
        }
        if startedAsRoot {
            note(.user, user == nil ? EPERM : userCode, holds: getuid() == user && geteuid() == user && getuid() != 0)
        } else {
            let reason = geteuid() == 0 ? "root here is an ordinary user outside" : "the service is not root"
            reports.append(SandboxLayerReport(.user, .needless, reason: reason))
        }
        let capabilityCode = apply(.capabilities, sandbox_drop_capabilities)
        note(.capabilities, capabilityCode, holds: sandbox_has_no_capabilities())

        let privilegeCode = apply(.noNewPrivileges, sandbox_no_new_privileges)
        note(.noNewPrivileges, privilegeCode, holds: sandbox_has_no_new_privileges())

        // Changing the user id clears both of these, so they come after it.
        let dumpCode = apply(.notDumpable, sandbox_not_dumpable)
        note(.notDumpable, dumpCode, holds: !sandbox_is_dumpable())
        _ = sandbox_die_with_parent()

        let limitCode = apply(.limits) {
            var code = sandbox_limit(0, sandbox_core_bytes, 0, 0)
            if code == 0 { code = sandbox_limit(0, sandbox_descriptors, Self.descriptors, Self.descriptors) }
            if code == 0, startedAsRoot, user != Self.nobody {
                code = sandbox_limit(0, sandbox_processes, Self.threads, Self.threads)
            }
            return code
        }
        let limited =
            sandbox_limit_of(sandbox_core_bytes) == 0 && sandbox_limit_of(sandbox_descriptors) == Self.descriptors
        note(.limits, limitCode, holds: limited)

        let landlockCode = apply(.landlock, sandbox_landlock_deny_all)
        let opened = thorough && landlockCode == 0 ? unsafe open("/", O_RDONLY | O_DIRECTORY) : -1
        if opened >= 0 { close(opened) }
        note(
            .landlock, landlockCode, holds: opened < 0,
            landlockCode == 0 ? "version \(sandbox_landlock_version())" : "")

        sandbox_exit_when_out_of_memory(ProcessEnding.memoryExhausted)
        sandbox_exit_when_out_of_threads(ProcessEnding.starved, ProcessEnding.memoryExhausted)
        let callCode = apply(.systemCalls, sandbox_confine_syscalls)
        var confined = sandbox_has_confined_syscalls()
        if thorough, confined {
            confined =
                unsafe open("/dev/null", O_RDONLY) < 0 && socket_(AF_INET, Int32(SOCK_STREAM.rawValue), 0) < 0
        }
        note(.systemCalls, callCode, holds: confined)
        return reports
    }

    private func socket_(_ domain: Int32, _ type: Int32, _ proto: Int32) -> Int32 {
        Glibc.socket(domain, type, proto)
    }
}

extension SandboxConfiguration {
    /// Enters the namespaces; the caller has one thread.
    ///
    /// - Returns: Also the user ids that forks can take on; nil where the caller isn't root or has none to give.
    static func enter(
        policy: SandboxPolicy, environmentIsFixed: Bool, withholding withheld: Set<SandboxLayer>
    ) -> (sandbox: SandboxConfiguration, users: Range<UInt32>?) {
        var users: Range<UInt32>?
        if geteuid() == 0 {
            let candidates = [Self.users, Self.nobody..<(Self.nobody + 1)]
            users = candidates.first { sandbox_user_exists($0.lowerBound, UInt32($0.count)) }
        }
        // Root that is an ordinary user outside and has no other ids to give is as confined as that user.
        let root = geteuid() == 0 && (users != nil || sandbox_root_is_root())
        var reports = [SandboxLayerReport(.environment, environmentIsFixed ? .holds : .missing)]
        if withheld.contains(.environment) {
            reports = [SandboxLayerReport(.environment, .missing, reason: "withheld")]
        }

        let mapped = users ?? (root ? 0..<1 : 0..<0)
        var wanted: UInt32 = 0
        let flags: [(SandboxLayer, UInt32)] = [
            (.userNamespace, sandbox_namespace_user.rawValue), (.networkNamespace, sandbox_namespace_network.rawValue),
            (.mountNamespace, sandbox_namespace_mount.rawValue), (.ipcNamespace, sandbox_namespace_ipc.rawValue),
            (.processNamespace, sandbox_namespace_process.rawValue),
        ]
        for (layer, flag) in flags where !withheld.contains(layer) { wanted |= flag }
        let entered = sandbox_enter_namespaces(wanted, mapped.lowerBound, UInt32(mapped.count))
        func note(_ layer: SandboxLayer, _ code: Int32, _ reason: String = "") {
            if withheld.contains(layer) {
                reports.append(SandboxLayerReport(layer, .missing, reason: "withheld"))
            } else if code == 0 {
                reports.append(SandboxLayerReport(layer, .holds, reason: reason))
            } else {
                reports.append(SandboxLayerReport(layer, .missing, reason: SystemError("", code: code).reason))
            }
        }
        note(.userNamespace, entered.user)
        note(.networkNamespace, entered.network)
        note(.mountNamespace, entered.mount, entered.empty_root ? "empty root" : "the root stays as it was")
        note(.ipcNamespace, entered.ipc)
        note(.processNamespace, entered.process)
        // No fork needs it, and taking it from each would change its rights forty times. Where it can't be had, the others' layers
        // say so.
        if root, !withheld.contains(.capabilities) { _ = sandbox_drop_bounding_set() }
        let sandbox = SandboxConfiguration(policy: policy, withheld: withheld, zygote: reports, startedAsRoot: root)
        return (sandbox, users)
    }

    /// Whether the environment is what the service gives; libraries set variables of their own later.
    static func environmentIsFixed(for invocation: CodecInvocation) -> Bool {
        guard sandbox_environment_size() == invocation.environment.count else { return false }
        return invocation.environment.allSatisfy { variable in
            let parts = variable.split(separator: "=", maxSplits: 1).map(String.init)
            guard let value = unsafe getenv(parts[0]) else { return false }
            return unsafe String(cString: value) == parts[1]
        }
    }
}
