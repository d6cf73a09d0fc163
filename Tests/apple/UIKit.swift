// What the client and the README use of UIKit, which brings Foundation along.
@_exported public import AppleFoundation

@MainActor open class UIViewController: NSObject {
    public init(nibName: String?, bundle: Bundle?) {}

    open var extensionContext: NSExtensionContext? { nil }
    open var title: String?
}
