/// Suggests a known name for a misspelled one.
public enum NearestName {
    /// Returns ` (did you mean 'batch'?)`, or an empty string if no known name is near enough.
    public static func hint(for name: String, in known: [String]) -> String {
        nearest(to: name, in: known, atMost: 1).first.map { " (did you mean '\($0)'?)" } ?? ""
    }

    /// Returns the known names that are near enough, nearest first.
    ///
    /// - Parameter key: Returns the part of a name to compare.
    public static func nearest(
        to name: String, in known: [String], atMost count: Int, by key: (String) -> String = { $0 }
    ) -> [String] {
        let limit = max(2, name.count / 2)
        let near = known.compactMap { known -> (name: String, distance: Int)? in
            let compared = key(known)
            // The difference in length is a lower bound of the distance.
            guard abs(compared.count - name.count) <= limit else { return nil }
            let distance = distance(name, compared)
            return distance <= limit ? (known, distance) : nil
        }
        let sorted = near.enumerated().sorted {
            ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
        }
        return sorted.prefix(count).map(\.element.name)
    }

    /// The Levenshtein distance.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let change = diagonal + (character == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
