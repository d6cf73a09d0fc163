import SatchelCore
import StillCodecs

/// One of a container's sound tracks, as its header tells.
struct AudioTrack: Hashable, Sendable {
    var track: Diagnosis.Track
    /// What the container wants to be played where nobody chooses.
    var isDefault: Bool
    /// An allowed decoder takes it, as far as its header tells.
    var isDecodable: Bool
}

/// Which of a container's sound tracks is kept: the container's default where it can be decoded, else the first that can.
/// A value without input or output.
struct AudioChoice: Hashable, Sendable {
    /// Of the tracks that were given; nil where none can be decoded.
    var kept: Int?
    /// The kept track, if there are several.
    var omission: Finding?
    /// What is missing of what would have been kept.
    var loss: Finding?

    init(of tracks: [AudioTrack]) {
        // Players take the first track if none is marked.
        let wanted = tracks.firstIndex(where: \.isDefault) ?? tracks.indices.first
        kept = tracks.firstIndex { $0.isDefault && $0.isDecodable } ?? tracks.firstIndex(where: \.isDecodable)
        guard let wanted else { return }
        guard let kept else {
            let codings = tracks.reduce(into: [String]()) {
                if !$0.contains($1.track.coding) { $0.append($1.track.coding) }
            }
            let listed = codings.prefix(3).joined(separator: ", ") + (codings.count > 3 ? " and others" : "")
            loss = Finding(.notSupported, .soundTracks, named: listed)
            return
        }
        if !tracks[wanted].isDecodable {
            loss = Finding(
                .notSupported, .soundTracks, missing: 1, of: tracks.count, named: tracks[wanted].track.coding)
        }
        guard tracks.count > 1 else { return }
        omission = Finding(
            .oneTaken, .soundTracks, missing: tracks.count - kept - 1, of: tracks.count, named: tracks[kept].track.text)
    }
}
