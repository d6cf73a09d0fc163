/// Names of files as people see them.
enum FileName {
    /// The last component, without what no file name holds; nil where nothing is left.
    static func cleaned(_ text: String) -> String? {
        // By scalars: a slash before a mark that combines with it is another character.
        let last = Array(text.unicodeScalars).split { $0 == "/" || $0 == "\\" }.last ?? []
        let kept = last.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        let name = String(String.UnicodeScalarView(kept.prefix(255)))
        return name.isEmpty || name == "." || name == ".." ? nil : name
    }
}
