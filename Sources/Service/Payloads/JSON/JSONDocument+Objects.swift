extension JSONDocument {
    /// Whether nothing but objects, and null in the place of one, is on the way that a pointer names.
    func hasRoom(forObjectAt pointer: JSONPointer) -> Bool {
        (0...pointer.tokens.count).allSatisfy { length in
            paths(to: JSONPointer(tokens: Array(pointer.tokens.prefix(length))))
                .allSatisfy { self[$0].isObject || self[$0].isNull }
        }
    }

    /// Sets a member of each object that a pointer names. Objects on the way that aren't there, or are null, are made; where
    /// something else is in the way nothing is done.
    mutating func set(_ key: String, to value: JSONValue, inObjectAt pointer: JSONPointer) {
        let empty = JSONValue(members: [])
        var objects: [Path] = [[]]
        for token in pointer.tokens {
            var next: [Path] = []
            for path in objects {
                guard self[path].isObject else { continue }
                if places(of: token, in: path).isEmpty { set(token, to: empty, inObjectAt: path) }
                for place in places(of: token, in: path) {
                    if self[place].isNull { self[place] = empty }
                    next.append(place)
                }
            }
            objects = next
        }
        for path in objects { set(key, to: value, inObjectAt: path) }
    }
}

extension JSONValue {
    public var isObject: Bool { if case .object = self { true } else { false } }

    public var isArray: Bool { if case .array = self { true } else { false } }
}
