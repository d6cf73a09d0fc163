import FoundationEssentials

/// What the control groups around this process leave it of the machine: the limits of its container or service.
///
/// Both versions of the kernel's interface (its documentation: admin-guide/cgroup-v2, admin-guide/cgroup-v1). A limit of a
/// group counts for all groups beneath it, so the lowest on the way up is the one that holds.
struct ControlGroup: Hashable {
    /// Bytes; nil where nothing limits them.
    var memory: Int64?
    /// Seconds of processor time a second; nil where nothing limits them.
    var processors: Double?

    /// - Parameters:
    ///   - mounts: Where the hierarchies are mounted.
    ///   - membership: The file that says which groups this process is in.
    init(mounts: String = "/sys/fs/cgroup", membership: String = "/proc/self/cgroup") {
        // A line is `number:controllers:/path`; version 2 has the number 0 and no controllers.
        for line in (Self.text(membership) ?? "").split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let controllers = fields[1].split(separator: ",")
            for group in Self.groups(upFrom: fields[2]) {
                if controllers.isEmpty {
                    let place = mounts + group
                    lower(memory: Self.numbers(place + "/memory.max").first)
                    let time = Self.numbers(place + "/cpu.max")
                    if time.count == 2 { lower(quota: time[0], period: time[1]) }
                }
                if controllers.contains("memory") {
                    lower(memory: Self.numbers("\(mounts)/memory\(group)/memory.limit_in_bytes").first)
                }
                if controllers.contains("cpu") {
                    let place = "\(mounts)/\(fields[1])\(group)"
                    let quota = Self.numbers(place + "/cpu.cfs_quota_us").first
                    let period = Self.numbers(place + "/cpu.cfs_period_us").first
                    if let quota, let period { lower(quota: quota, period: period) }
                }
            }
        }
    }

    private mutating func lower(memory bytes: Int64?) {
        guard let bytes, bytes > 0 else { return }
        memory = min(memory ?? .max, bytes)
    }

    /// -1 stands for no limit.
    private mutating func lower(quota: Int64, period: Int64) {
        guard quota > 0, period > 0 else { return }
        processors = min(processors ?? .infinity, Double(quota) / Double(period))
    }

    /// `/a/b`, `/a` and the empty string: what a container sees is often mounted further down than its path says.
    private static func groups(upFrom path: Substring) -> [String] {
        let parts = path.split(separator: "/")
        return (0...parts.count).reversed().map { count in parts.prefix(count).map { "/" + $0 }.joined() }
    }

    /// The numbers of a line; none where the file isn't there, or where it says `max`.
    private static func numbers(_ path: String) -> [Int64] {
        let words = (text(path) ?? "").split { $0.isWhitespace }
        let numbers = words.compactMap { Int64($0) }
        return numbers.count == words.count ? numbers : []
    }

    private static func text(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }
}
