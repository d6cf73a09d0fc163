import CSandbox
import Glibc

extension CodecPoolConfiguration {
    /// Lowers ``codecs`` to what the limits of processes and open files allow, but not below 1, and raises the limit of
    /// open files as far as the process may.
    ///
    /// The numbers are rounded up from a service that was measured on 2 processors, with 1, 3 and 6 codecs and 6 to 48
    /// clients that uploaded samples of all formats. It had up to 17 threads, 1 or 2 of them for each processor, and 4
    /// processes that codecs share. Each codec had up to 6 threads for a source, and 2 processes that wait for the next.
    /// At most 31, 44 and 58 tasks were there at once. The service had 45 files, and 10 more for each codec.
    ///
    /// - Returns: The limits that are too low, for an operator, and whether one codec can't work either; nil where there is
    ///   none.
    mutating func fit() -> (text: String, isFatal: Bool)? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        _ = unsafe getrlimit(resource, &limit)
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(resource, &limit)
        let (files, asked) = (Int(clamping: limit.rlim_max), codecs)
        let needs: [(what: String, own: Int, each: Int, extra: Int, room: (Int) -> Int)] = [
            (
                "processes and threads (TasksMax=, pids.max, ulimit -u)", 24 + 2 * Self.usableProcessors, 8, 0,
                { Int(sandbox_startable_threads(Int32($0))) }
            ),
            ("open files (LimitNOFILE=, ulimit -n)", 64, 16, connections, { _ in files }),
        ]
        var isFatal = false
        let lacks = needs.compactMap { need -> String? in
            let wanted = need.own + asked * need.each + need.extra
            let room = need.room(wanted)
            guard room < wanted else { return nil }
            let possible = (room - need.own) / need.each
            codecs = max(1, min(codecs, possible))
            isFatal = isFatal || possible < 1
            let users = "\(asked) codecs" + (need.extra > 0 ? " and \(need.extra) connections and uploads" : "")
            return "the limit of \(need.what) leaves \(room), and \(users) need \(wanted)"
        }
        return lacks.isEmpty ? nil : (lacks.joined(separator: "; "), isFatal)
    }
}
