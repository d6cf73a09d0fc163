public import SatchelCore
public import ArgumentParser

// Types from other modules that options accept by name.

extension AccessRole: ExpressibleByArgument {}
extension AuditEntry.Action: ExpressibleByArgument {}
extension PayloadFormat: ExpressibleByArgument {}
extension JobMode: ExpressibleByArgument {}
extension RenditionRole: ExpressibleByArgument {}
extension EncryptionScheme: ExpressibleByArgument {
    public static var allValueStrings: [String] { ofRenditions.map(\.rawValue) }
}
extension WorkState: ExpressibleByArgument {}
extension MediaKind: ExpressibleByArgument {}
extension ErrorCode: ExpressibleByArgument {}
extension NotificationRemoval: ExpressibleByArgument {}
extension CategoryExport: ExpressibleByArgument {}

extension Instant: ExpressibleByArgument {
    /// Reads an RFC 3339 time with an offset.
    public init?(argument: String) {
        guard let instant = WrittenTime(argument)?.instant else { return nil }
        self = instant
    }
}

extension WrittenTime: ExpressibleByArgument {
    /// Reads an RFC 3339 time with an offset and keeps its spelling.
    public init?(argument: String) {
        self.init(argument)
        guard instant != nil else { return nil }
    }
}

extension Crop: ExpressibleByArgument {
    public init?(argument: String) {
        switch argument {
        case "centre", "center": self = .centre
        case "attention": self = .attention
        default:
            let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
            let values = numbers.compactMap(\.self)
            guard values.count == numbers.count else { return nil }
            switch values.count {
            case 2 where values.allSatisfy((0...1).contains): self = .focalPoint(x: values[0], y: values[1])
            case 4:
                let rect = UnitRect(x: values[0], y: values[1], width: values[2], height: values[3])
                guard rect.isValid else { return nil }
                self = .rect(rect)
            default: return nil
            }
        }
    }
}

enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, jsonl, csv
}

struct FormatOptions: ParsableArguments {
    @Option(help: "Output format.")
    var format = OutputFormat.table
}
