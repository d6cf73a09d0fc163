/// One thing that keeps hostile bytes from doing harm.
public enum SandboxLayer: String, Hashable, Sendable, Codable, CaseIterable {
    // Required: no start without.

    /// A user id of its own, where the service runs as root and has others to give.
    case user
    /// No capabilities, in no set.
    case capabilities
    case noNewPrivileges
    /// Nobody of the same user can trace it or read its memory.
    case notDumpable
    /// Five fixed variables, nothing inherited.
    case environment
    /// One socket, nothing inherited.
    case descriptors
    /// The allow-list of system calls.
    case systemCalls
    /// Address space, CPU time, file size, descriptors, core files.
    case limits

    // Extras: used where the kernel allows.

    /// Landlock: no file can be opened, made, moved or run.
    case landlock
    case userNamespace
    case networkNamespace
    /// An empty root directory.
    case mountNamespace
    case ipcNamespace
    case processNamespace

    /// Whether a codec process is started without it.
    public var isRequired: Bool {
        switch self {
        case .user, .capabilities, .noNewPrivileges, .notDumpable, .environment, .descriptors, .systemCalls, .limits:
            true
        case .landlock, .userNamespace, .networkNamespace, .mountNamespace, .ipcNamespace, .processNamespace:
            false
        }
    }

    /// For a person: `allow-list of system calls`.
    public var title: String {
        switch self {
        case .user: "user id of its own"
        case .capabilities: "no capabilities"
        case .noNewPrivileges: "no new privileges"
        case .notDumpable: "not traceable"
        case .environment: "fixed environment"
        case .descriptors: "no inherited descriptors"
        case .systemCalls: "allow-list of system calls"
        case .limits: "resource limits"
        case .landlock: "Landlock"
        case .userNamespace: "user namespace"
        case .networkNamespace: "network namespace"
        case .mountNamespace: "mount namespace"
        case .ipcNamespace: "IPC namespace"
        case .processNamespace: "process namespace"
        }
    }
}

/// Whether a layer holds in the codec processes of one zygote.
public struct SandboxLayerReport: Hashable, Sendable, Codable {
    /// Whether a layer holds, and how that is known.
    public enum State: String, Hashable, Sendable, Codable {
        /// Looked at from inside a confined process, not merely asked for.
        case holds
        /// There is nothing to do: a user id of its own, where the service isn't root.
        case needless
        case missing
    }

    public var layer: SandboxLayer
    public var state: State
    /// A clause for a person: `the kernel has no Landlock`, `version 7`.
    public var reason: String

    public init(_ layer: SandboxLayer, _ state: State, reason: String = "") {
        self.layer = layer
        self.state = state
        self.reason = reason
    }
}

/// What confines the codec processes on this machine, by the zygote's own trial, and what they decode with.
public struct SandboxReport: Hashable, Sendable, Codable {
    public var layers: [SandboxLayerReport]
    /// Of the decoder set that was prepared.
    public var libraries: [CodecLibrary]
    /// Why the codec doesn't use its stand-ins for libraries that it never calls, where it has any: what the pool found.
    public var standInFailure: String?

    public init(layers: [SandboxLayerReport], libraries: [CodecLibrary] = []) {
        self.layers = layers
        self.libraries = libraries
    }

    /// The layers that `policy` demands and that don't hold. A layer that the report leaves out doesn't hold.
    public func missing(under policy: SandboxPolicy) -> [SandboxLayerReport] {
        SandboxLayer.allCases.filter(policy.demands).compactMap { layer in
            guard let report = layers.first(where: { $0.layer == layer }) else {
                return SandboxLayerReport(layer, .missing, reason: "not reported")
            }
            return report.state == .missing ? report : nil
        }
    }
}

/// Which layers must hold for a codec process to start.
public enum SandboxPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// All that are required.
    case standard
    /// The extras too: `--require-sandbox=full`.
    case full
    /// None: `--allow-unsandboxed`. What holds is still used.
    case allowUnsandboxed = "allow-unsandboxed"

    /// Whether nothing starts without `layer`.
    public func demands(_ layer: SandboxLayer) -> Bool {
        switch self {
        case .standard: layer.isRequired
        case .full: true
        case .allowUnsandboxed: false
        }
    }
}
