// What the example uses of SwiftUI: types without looks.
@_exported public import AppleFoundation
public import UIKit

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("has no view") }
}

/// One that is made of nothing else.
public protocol PrimitiveView: View where Body == Never {}

extension PrimitiveView {
    public var body: Never { fatalError("is drawn by the system") }
}

extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("is drawn by the system") }
}

public struct EmptyView: PrimitiveView {
    public nonisolated init() {}
}

public struct TupleView<each Content: View>: PrimitiveView {
    nonisolated init() {}
}

@resultBuilder public enum ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }

    public static func buildBlock() -> EmptyView { EmptyView() }

    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<repeat each Content>
    {
        TupleView()
    }

    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

public struct LocalizedStringKey: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {}
}

public struct Text: PrimitiveView {
    public init(_ key: LocalizedStringKey) {}
    @_disfavoredOverload public init<Content: StringProtocol>(_ content: Content) {}
}

public struct VStack<Content: View>: PrimitiveView {
    public init(@ViewBuilder content: () -> Content) {}
}

public struct List<Content: View>: PrimitiveView {
    @MainActor public init<Data: RandomAccessCollection>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Content
    ) where Data.Element: Identifiable {}
}

public struct ProgressView<Label: View>: PrimitiveView {
    public init<Value: BinaryFloatingPoint>(value: Value?, total: Value = 1.0, @ViewBuilder label: () -> Label) {}
}

public struct Button<Label: View>: PrimitiveView {
    public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) where Label == Text {}
}

extension View {
    public func disabled(_ disabled: Bool) -> some View { self }

    public func padding() -> some View { self }

    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (_ oldValue: Value, _ newValue: Value) -> Void
    ) -> some View { self }
}

@propertyWrapper public struct Binding<Value> {
    public init() {}

    public var wrappedValue: Value {
        get { fatalError("is the system's") }
        nonmutating set {}
    }
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}

    public var wrappedValue: Value {
        get { fatalError("is the system's") }
        nonmutating set {}
    }

    public var projectedValue: Binding<Value> { Binding() }
}

extension State where Value: ExpressibleByNilLiteral {
    public init() {}
}

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}

extension Never: Scene {}

@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}

    public var body: Never { fatalError("is drawn by the system") }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

@MainActor @propertyWrapper public struct UIApplicationDelegateAdaptor<Delegate: NSObject & UIApplicationDelegate> {
    public init(_ type: Delegate.Type = Delegate.self) {}

    public var wrappedValue: Delegate { fatalError("is the system's") }
}
