internal import SatchelCore

/// Tells which workers live: in a store of one machine, by what ends with a process.
protocol WorkerLiveness: Sendable {
    /// Marks a worker of this process as alive, until this value ends.
    func register(_ worker: WorkerID) throws(AttachmentError)

    /// Whether the process behind a worker lives. One that was never registered has ended.
    func lives(_ worker: WorkerID) -> Bool

    /// Removes what is known of workers that have ended.
    func forgetEnded() throws(AttachmentError)
}
