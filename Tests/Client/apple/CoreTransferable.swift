// What the example uses of CoreTransferable.
public import AppleFoundation
public import UniformTypeIdentifiers

public protocol TransferRepresentation: Sendable {
    associatedtype Item: Transferable
}

public protocol Transferable {
    associatedtype Representation: TransferRepresentation

    @TransferRepresentationBuilder<Self> static var transferRepresentation: Representation { get }
}

public struct ReceivedTransferredFile: Sendable {
    public let file: URL
}

public struct FileRepresentation<Item: Transferable>: TransferRepresentation {
    public init(
        importedContentType: UTType, shouldAllowToOpenInPlace: Bool = false,
        importing: @escaping @Sendable (ReceivedTransferredFile) async throws -> Item
    ) {}
}

/// Several, of which the first that fits is taken.
public struct RepresentationTuple<First: TransferRepresentation, Second: TransferRepresentation>: TransferRepresentation
where First.Item == Second.Item {
    public typealias Item = First.Item
}

@resultBuilder public enum TransferRepresentationBuilder<Item: Transferable> {
    public static func buildExpression<Content: TransferRepresentation>(_ content: Content) -> Content
    where Content.Item == Item { content }

    public static func buildExpression(_ content: FileRepresentation<Item>) -> FileRepresentation<Item> { content }

    public static func buildBlock<Content: TransferRepresentation>(_ content: Content) -> Content
    where Content.Item == Item { content }

    public static func buildBlock<First: TransferRepresentation, Second: TransferRepresentation>(
        _ first: First, _ second: Second
    ) -> RepresentationTuple<First, Second> where First.Item == Item, Second.Item == Item { RepresentationTuple() }
}
