internal import SatchelCore
internal import Bytes
internal import Platform

extension StoreCopy {
    /// Files that are read and put side by side.
    private static let atOnce = 8

    /// What a file turns out to hold.
    private enum Finding {
        case whole(HashedFile)
        /// What is there of it.
        case damaged(HashedFile?)
        case missing
    }

    // MARK: Blobs

    /// Puts a part of the blobs where the target keeps them: one for each tenant and hash.
    ///
    /// - Returns: The key behind which the next part begins.
    func copyBlobs(after key: [String]?, into target: CopyTarget, _ tally: CopyTally) async throws -> [String]? {
        let part = try await records.copiedBytes(after: key, limit: partSize)
        let there = try await target.known(part.elements.map { ($0.tenant, $0.sha256) })
        let left = part.elements.filter { !there.contains($0.sha256 + $0.tenant) }
        try await forEach(Array(Dictionary(grouping: left, by: \.sha256).values)) { equal in
            try await copy(equal, into: target)
            tally.add(equal.count)
        }
        return part.next
    }

    /// Puts bytes that several tenants may have, for each of them.
    private func copy(_ equal: [SharedBytes], into target: CopyTarget) async throws {
        let claim = ClaimID.generate()
        var first: CommittedBlob?
        for bytes in equal {
            var object = CopiedObject()
            var whole: HashedFile?
            for name in bytes.files where whole == nil {
                let finding = try await find(name, of: bytes)
                var note = CopiedObject.Note(kind: "blob", name: name)
                switch finding {
                case .whole(let file): whole = file
                case .damaged: note.loss = .damaged
                case .missing: note.loss = .missing
                }
                object.notes.append(note)
            }
            let put: CommittedBlob
            if let whole {
                // Nothing is lost where one of a tenant's files is whole.
                object.notes = []
                var copied: CommittedBlob?
                if let first { copied = try await self.bytes.blobs.copy(first, under: claim) }
                if let copied { put = copied } else { put = try await self.bytes.blobs.put(whole, under: claim) }
                first = first ?? put
            } else {
                put = try await nothing(under: claim)
            }
            object.blob = CopiedObject.Blob(
                tenant: bytes.tenant, sha256: bytes.sha256, name: put.name.rawValue, bytes: bytes.bytes,
                refs: bytes.refs, isDamaged: whole == nil)
            try await target.record(object)
        }
    }

    /// A name that could have bytes and has none: a repair may bring them.
    private func nothing(under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        let file = try await BlockingWork.run { () throws(AttachmentError) in try source.staging.stage().file }
        let empty = try await source.staging.close(file, expecting: 0, writersAreDead: true)
        let put = try await bytes.blobs.put(empty, under: claim)
        try await bytes.blobs.remove([put.name])
        return put
    }

    private func find(_ name: String, of bytes: SharedBytes) async throws(AttachmentError) -> Finding {
        try await find(expecting: bytes.sha256, bytes.bytes) { () throws(AttachmentError) in
            guard case .file(let file) = try await source.blobs.content(of: BlobName(rawValue: name), behind: nil)
            else {
                throw .storeFailed(reason: "its bytes are not in files")
            }
            return file
        }
    }

    /// Reads a file whole, and compares it with what is known of it.
    private func find(
        expecting sha256: String?, _ bytes: Int64?, _ open: () async throws(AttachmentError) -> Descriptor
    ) async throws(AttachmentError) -> Finding {
        let file: ScratchFile
        do throws(AttachmentError) { file = ScratchFile(reader: try await open()) } catch {
            if case .notInStore = error { return .missing }
            throw error
        }
        do {
            let found = try await BlockingWork.files { () throws(SystemError) in
                try Files.digest(of: file.reader, expecting: Files.size(of: file.reader))
            }
            let hashed = HashedFile(file, sha256: found.sha256, bytes: found.bytes)
            let isOther = sha256.map { $0 != found.sha256 } ?? false || bytes.map { $0 != found.bytes } ?? false
            return isOther ? .damaged(hashed) : .whole(hashed)
        } catch {
            // A disk that can't give them any more.
            return .damaged(nil)
        }
    }

    // MARK: Sources

    /// Puts a part of the sources that work still needs where the target keeps them.
    ///
    /// - Returns: The key behind which the next part begins.
    func copySources(after key: [String]?, into target: CopyTarget, _ tally: CopyTally) async throws -> [String]? {
        let part = try await records.copiedSources(after: key, limit: partSize)
        let there = try await target.names(of: part.elements.map(\.name))
        try await forEach(part.elements.filter { there[$0.name] == nil }) { element in
            var note = CopiedObject.Note(kind: "source", name: element.name)
            let finding = try await find(expecting: element.sha256, nil) { () throws(AttachmentError) in
                try await source.sources.open(SourceName(rawValue: element.name))
            }
            switch finding {
            // Its job fails with that as it would have.
            case .missing: (note.copy, note.loss) = (element.name, .missing)
            case .damaged(nil): (note.copy, note.loss) = (element.name, .damaged)
            case .damaged(let rest?): (note.copy, note.loss) = (try await bytes.sources.put(rest).rawValue, .damaged)
            case .whole(let file): note.copy = try await bytes.sources.put(file).rawValue
            }
            try await target.record(CopiedObject(notes: [note]))
            tally.add(1)
        }
        return part.next
    }

    /// Does something with each, some side by side. The first failure stops the others.
    private func forEach<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = elements[...]
            for element in rest.prefix(Self.atOnce) { group.addTask { try await body(element) } }
            rest = rest.dropFirst(Self.atOnce)
            while try await group.next() != nil {
                guard let element = rest.popFirst() else { continue }
                group.addTask { try await body(element) }
            }
        }
    }
}
