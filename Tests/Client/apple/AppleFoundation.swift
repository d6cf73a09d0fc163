// Stands for Foundation as Apple has it, where URLSession is a part of it.
@_exported public import Foundation
@_exported import FoundationNetworking

open class NSExtensionContext: NSObject {
    /// What other modules keep in it.
    public var kept: [NSObject] = []
}

extension URL {
    public static var applicationSupportDirectory: URL { URL(fileURLWithPath: NSTemporaryDirectory()) }

    public func startAccessingSecurityScopedResource() -> Bool { true }

    public func stopAccessingSecurityScopedResource() {}
}
