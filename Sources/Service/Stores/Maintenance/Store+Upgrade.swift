internal import SatchelCore
internal import SystemPackage
internal import Platform

extension Store {
    /// What opening the store in a directory would do to its schema; changes nothing.
    ///
    /// - Throws: `missing`, `notAStore`, `developmentStore`, `newerSchema`, and what the file system says.
    public static func upgradePlan(at directory: String) throws(StoreError) -> SchemaPlan {
        let path = directory + "/records.sqlite"
        let isThere: Bool
        do throws(SystemError) { isThere = try Files.facts(of: FilePath(path)) != nil } catch {
            throw StoreError(error, at: directory)
        }
        guard isThere else { throw .missing(path: directory) }
        return try SQLiteEngine.upgradePlan(at: path)
    }
}
