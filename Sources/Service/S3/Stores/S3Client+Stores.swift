internal import SatchelCore

extension S3Client {
    /// A part of what a store has, as its protocol gives it: names are keys without the configuration's prefix.
    ///
    /// - Parameters:
    ///   - cursor: A name.
    ///   - name: Nil for a key that is none of the store's own, which is passed over.
    func stored<Name>(
        in folder: String, after cursor: String?, limit: Int, _ name: (String) -> Name?
    ) async throws(AttachmentError) -> Page<StoredObject<Name>> {
        let prefix = configuration.prefix
        let page: Page<S3Object>
        do throws(S3Error) {
            page = try await list(prefix + folder, after: cursor.map { prefix + $0 }, limit: limit)
        } catch {
            throw AttachmentError(error, reading: "The list of files")
        }
        let now = now
        let objects = page.elements.compactMap { object in
            name(String(object.key.dropFirst(prefix.count))).map { name in
                // What the clocks differ by makes nothing younger than new.
                StoredObject(
                    name: name, bytes: object.bytes, age: max(.zero, object.modifiedAt.map { now - $0 } ?? .zero))
            }
        }
        return Page(elements: objects, next: page.next.map { String($0.dropFirst(prefix.count)) })
    }
}

extension S3Error {
    /// Not every server knows all that Amazon's does.
    var isUnknownOperation: Bool {
        self == .refused(status: 501, code: "NotImplemented") || self == .refused(status: 405, code: "MethodNotAllowed")
    }
}

extension AttachmentError {
    /// What a bucket's refusal means for an attachment.
    ///
    /// - Parameter what: The object that was to be read, for people: `This rendition`.
    init(_ error: S3Error, reading what: String) { self.init(error, what, "read") }

    init(_ error: S3Error, writing what: String) { self.init(error, what, "written") }

    init(_ error: S3Error, removing what: String) { self.init(error, what, "removed") }

    private init(_ error: S3Error, _ what: String, _ action: String) {
        self =
            switch error {
            case .noSuchObject: .notInStore(what: what)
            case .full, .file(_, isOutOfSpace: true): .storeFull
            case .noRoom(let needed): .scratchFull(needed: needed)
            default:
                .storeFailed(
                    reason: "\(what.prefix(1).lowercased())\(what.dropFirst()) could not be \(action): \(error.reason)")
            }
    }
}

extension String {
    /// As this package writes one: lower-case hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    var isUUID: Bool {
        let bytes = Array(utf8)
        return bytes.count == 36
            && bytes.indices.allSatisfy { index in
                switch bytes[index] {
                case UInt8(ascii: "-"): [8, 13, 18, 23].contains(index)
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                    ![8, 13, 18, 23].contains(index)
                default: false
                }
            }
    }
}
