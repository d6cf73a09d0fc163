internal import SatchelCore
internal import GRDB
internal import Postgres

extension AttachmentError {
    /// What an error of the database means for the attachment.
    init(storing error: any Error) { self.init(error, "written") }

    init(reading error: any Error) { self.init(error, "read") }

    private init(_ error: any Error, _ action: String) {
        let what = "the records could not be \(action)"
        switch error {
        case let error as AttachmentError: self = error
        case PostgresError.statement(let failure) where failure.isOutOfSpace: self = .storeFull
        case PostgresError.statement(let failure) where failure.isOfDamage:
            self = .storeUnusable(
                reason: "its database is damaged (\(failure.code)). Its operator must restore it from a backup")
        case let error as PostgresError:
            // A sentence within a sentence.
            let reason = error.description
            self = .storeFailed(reason: "\(what): \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)")
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_FULL: self = .storeFull
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                self = .storeUnusable(
                    reason:
                        "its database is damaged. Its operator should run 'satchel store verify' and restore a backup")
            case .SQLITE_READONLY: self = .storeUnusable(reason: "it can only be read")
            default: self = .storeFailed(reason: "\(what): \(error.message ?? error.resultCode.description)")
            }
        default: self = .storeFailed(reason: "\(what): \(type(of: error))")
        }
    }
}
