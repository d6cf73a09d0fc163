internal import SatchelCore
internal import SystemPackage
internal import Platform

extension Store {
    /// What opening the store in a directory would do to its schema; changes nothing.
    ///
    /// - Throws: `missing`, `notAStore`, `developmentStore`, `newerSchema`, and what the file system says.
    public static func upgradePlan(at directory: String) throws(StoreError) -> SchemaPlan {
        let path = directory + "/records.sqlite"
        do {
            guard try Files.facts(of: FilePath(path)) != nil else { throw StoreError.missing(path: directory) }
        } catch let error as SystemError {
            throw StoreError(error, at: directory)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .inaccessible(path: directory, reason: "\(error)")
        }
        return try SQLiteEngine.upgradePlan(at: path)
    }
}
