/// Which known name somebody probably meant.
public enum NearestName {
    /// `; 'batch' is the nearest`, where one is near enough to be meant.
    public static func hint(for name: String, in known: [String]) -> String {
        nearest(to: name, in: known, atMost: 1).first.map { "; '\($0)' is the nearest" } ?? ""
    }

    /// Those that are near enough to be meant, the nearest first.
    ///
    /// - Parameter key: What is compared of a name.
    public static func nearest(
        to name: String, in known: [String], atMost count: Int, by key: (String) -> String = { $0 }
    ) -> [String] {
        let limit = max(2, name.count / 2)
        let near = known.compactMap { known -> (name: String, distance: Int)? in
            let compared = key(known)
            // No distance is less than that of the lengths.
            guard abs(compared.count - name.count) <= limit else { return nil }
            let distance = distance(name, compared)
            return distance <= limit ? (known, distance) : nil
        }
        let sorted = near.enumerated().sorted {
            ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
        }
        return sorted.prefix(count).map(\.element.name)
    }

    /// Levenshtein's.
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
