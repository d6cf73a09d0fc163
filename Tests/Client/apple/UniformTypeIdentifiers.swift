// What the example uses of UniformTypeIdentifiers.
public struct UTType: Sendable, Hashable {
    public let identifier: String

    public static let image = UTType(identifier: "public.image")
    public static let movie = UTType(identifier: "public.movie")
}
