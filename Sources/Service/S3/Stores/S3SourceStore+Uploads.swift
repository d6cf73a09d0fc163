public import SatchelCore
internal import CSandbox
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// An upload is a source, `uploads/<xx>/<uuid>`, of objects whose keys begin with that: `whole` where it is a single one, else
/// parts of 8 MiB and what is less behind them, which the next request reads back and puts another in the place of. What waits
/// on this machine meanwhile is a part of each request, and all of one with a checksum.
///
/// No multipart upload: Ceph's gateway completes none that has a part which isn't named, such as whoever was overtaken leaves. Each
/// object has a name of its own instead, and `parts` says which there are, and in what order.
extension S3SourceStore: UploadFiles {
    public func newUploadName() -> SourceName { Self.newName(in: Self.uploads) }

    public func resume(_ upload: UploadRecord) async throws(AttachmentError) -> ArrivedBytes? {
        let parts = upload.parts ?? UploadParts()
        guard parts.isWhole || parts.bytes == upload.offset else { throw .notInStore(what: Self.upload) }
        let rest = rest(of: parts)
        do throws(S3Error) {
            let scratch = scratch
            let file = try await BlockingWork.run { () throws(S3Error) in
                ScratchFile(reader: try ScratchCopy.open(in: scratch))
            }
            if let rest {
                guard try await client.fetch(key(rest, of: upload.source), into: file.reader.number) == rest.bytes
                else {
                    throw .noSuchObject
                }
                guard lseek(file.reader.number, off_t(rest.bytes), SEEK_SET) == off_t(rest.bytes) else {
                    throw .file(SystemError("open an upload's copy"))
                }
            }
            return ArrivedBytes(file, from: upload.offset - (rest?.bytes ?? 0), keptInPlace: false)
        } catch {
            throw AttachmentError(error, reading: Self.upload)
        }
    }

    public func keep(
        _ arrived: ArrivedBytes, upTo offset: Int64, of upload: UploadRecord, _ pause: UploadPause
    ) async throws(AttachmentError) -> KeptBytes {
        let known = upload.parts ?? UploadParts()
        if known.isWhole { return KeptBytes(to: offset, in: known) }
        var parts = known
        if rest(of: known) != nil { parts.parts.removeLast() }
        let begin = parts.bytes
        // What is recorded as a part nobody reads here any more. A file system that can't give the room back has it until the
        // request ends.
        if begin > arrived.base { csandbox_give_back(arrived.file.reader.number, 0, begin - arrived.base) }
        let size = client.configuration.partSize
        var ends = Array(stride(from: begin + size, through: offset, by: Int64.Stride(size)))
        if pause != .underway, offset > ends.last ?? begin { ends.append(offset) }
        do throws(S3Error) {
            if pause == .whole, parts.parts.isEmpty, ends.count <= 1 {
                try await put(0..<offset, of: arrived, as: wholeKey(of: upload.source))
                return KeptBytes(to: offset, in: UploadParts())
            }
            let ranges = zip([begin] + ends, ends).map { $0..<$1 }
            let made = ranges.map {
                UploadParts.Part(name: UUID().uuidString.lowercased(), bytes: Int64($0.count))
            }
            _ = try await client.inParallel(made.count) { index throws(S3Error) in
                try await put(ranges[index], of: arrived, as: key(made[index], of: upload.source))
            }
            guard !made.isEmpty else { return KeptBytes(to: upload.offset, in: known) }
            parts.parts += made
            return KeptBytes(to: ends.last ?? offset, in: parts)
        } catch {
            throw AttachmentError(error, writing: Self.upload)
        }
    }

    public func discard(_ parts: [UploadParts.Part], of upload: UploadRecord) async {
        try? await client.delete(parts.map { key($0, of: upload.source) })
    }

    public func finish(_ upload: UploadRecord) async throws(AttachmentError) {
        guard let parts = upload.parts, !parts.parts.isEmpty else { return }
        do {
            try await client.put(Array(try JSONEncoder().encode(parts.parts)), as: partsKey(of: upload.source))
        } catch let error as S3Error {
            throw AttachmentError(error, writing: Self.upload)
        } catch {
            throw .storeFailed(reason: "\(error)")
        }
    }

    /// A source that came as an upload, as one file.
    func read(_ source: SourceName, into file: Int32) async throws(S3Error) {
        do throws(S3Error) {
            _ = try await client.fetch(wholeKey(of: source), into: file)
            return
        } catch {
            guard error == .noSuchObject else { throw error }
        }
        let list = try await client.get(partsKey(of: source), 0..<Self.longestList)
        guard let parts = try? JSONDecoder().decode([UploadParts.Part].self, from: Data(list)) else {
            throw .malformedAnswer(reason: "it doesn't say what an upload is made of")
        }
        var begin: Int64 = 0
        var places: [Int64] = []
        for part in parts {
            places.append(begin)
            begin += part.bytes
        }
        _ = try await client.inParallel(parts.count) { [places, begin] index throws(S3Error) in
            let found: Int64
            do throws(S3Error) {
                found = try await client.fetch(key(parts[index], of: source), into: file, at: places[index])
            } catch {
                if case .noRoom = error { throw .noRoom(needed: begin) }
                throw error
            }
            guard found == parts[index].bytes else { throw .noSuchObject }
        }
    }

    /// Removes all that a source is made of, also what whoever was overtaken left.
    func removeAll(of upload: SourceName) async throws(S3Error) {
        let prefix = key(upload) + "/"
        while true {
            let page = try await client.list(prefix, limit: 1000)
            try await client.delete(page.elements.map(\.key))
            if page.next == nil { return }
        }
    }

    /// The last part, where more may be put behind it.
    private func rest(of parts: UploadParts) -> UploadParts.Part? {
        parts.isWhole ? nil : parts.parts.last.flatMap { $0.bytes < client.configuration.partSize ? $0 : nil }
    }

    private func put(_ range: Range<Int64>, of arrived: ArrivedBytes, as key: String) async throws(S3Error) {
        let place = range.lowerBound - arrived.base
        try await client.put(
            FileRegion(file: arrived.file, range: place..<place + Int64(range.count)), as: key)
    }

    private func key(_ part: UploadParts.Part, of source: SourceName) -> String { "\(key(source))/\(part.name)" }

    private func wholeKey(of source: SourceName) -> String { key(source) + "/whole" }

    private func partsKey(of source: SourceName) -> String { key(source) + "/parts" }

    private static let upload = "The upload"
    /// Bytes of a list of parts: more than the largest upload has.
    private static let longestList: Int64 = 16 << 20
}
