public import Foundation

/// Where the checkout and what was built from it lie.
public enum Repository {
    /// The root of the checkout.
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    public static let media = root.appending(path: "Media")

    /// An executable of this package that was built with the tests, such as `fault-codec`.
    ///
    /// In a test `/proc/self/exe` is the test runner or the test bundle, and both lie where the executables do
    /// only for the latter; so the directory is taken from the test bundle's path in the arguments. `SATCHEL_TEST_PROGRAMS` names another
    /// one, for tests that are built for a sanitizer, which has no room in the address space that a codec has.
    public static func product(_ name: String) throws -> URL {
        let arguments = ProcessInfo.processInfo.arguments
        let bundle = arguments.first { $0.contains(".xctest") } ?? Bundle.main.bundlePath
        var directory = URL(filePath: bundle)
        while directory.path(percentEncoded: false).contains(".xctest") { directory.deleteLastPathComponent() }
        if let other = ProcessInfo.processInfo.environment["SATCHEL_TEST_PROGRAMS"] { directory = URL(filePath: other) }
        let product = directory.appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: product.path(percentEncoded: false)) else {
            throw MissingProduct(path: product.path(percentEncoded: false))
        }
        return product
    }
}

/// An executable that the test target must depend on was not built.
public struct MissingProduct: Error {
    public var path: String
}
