extension String {
    /// Without control and formatting characters, and at most `limit` characters long.
    package func sanitized(_ limit: Int) -> String {
        let plain = unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        return String(String(String.UnicodeScalarView(plain)).prefix(limit))
    }
}
