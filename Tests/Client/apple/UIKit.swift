// What the client, the README and the example use of UIKit, which brings Foundation along.
@_exported public import AppleFoundation
@_exported import CoreGraphics

@MainActor open class UIViewController: NSObject {
    public init(nibName: String?, bundle: Bundle?) {}

    open var extensionContext: NSExtensionContext? { nil }
    open var title: String?
    open var view: UIView! = UIView()

    open func viewDidLoad() {}
}

@MainActor open class UIView: NSObject {
    public struct AutoresizingMask: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let flexibleWidth = AutoresizingMask(rawValue: 1 << 1)
        public static let flexibleHeight = AutoresizingMask(rawValue: 1 << 4)
    }

    public enum ContentMode: Int, Sendable {
        case scaleToFill
        case scaleAspectFit
    }

    open var bounds = CGRect.zero
    open var frame = CGRect.zero
    open var alpha: CGFloat = 1
    open var transform = CGAffineTransform(rotationAngle: 0)
    open var autoresizingMask: AutoresizingMask = []
    open var contentMode = ContentMode.scaleToFill

    open func addSubview(_ view: UIView) {}
}

open class UIImage: NSObject {
    public init?(data: Data) {}
}

open class UIColor: NSObject {
    public class var systemRed: UIColor { UIColor() }
    public class var label: UIColor { UIColor() }
}

@MainActor open class UIImageView: UIView {
    open var image: UIImage?
}

@MainActor open class UILabel: UIView {
    open var text: String?
    open var textColor: UIColor!
    open var textAlignment = NSTextAlignment.natural
}

public enum NSTextAlignment: Int, Sendable {
    case left
    case center
    case natural
}

#if !os(watchOS)
    @MainActor open class UIApplication: NSObject {
        public struct LaunchOptionsKey: Hashable, Sendable {}

        open func registerForRemoteNotifications() {}
    }

    @MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool

        func application(
            _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    }
#endif
