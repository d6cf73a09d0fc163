/// A JSON text that can be edited in places and otherwise stays as it is, byte for byte.
public struct JSONDocument: Hashable, Sendable {
    /// The way to a value by the positions of members and elements, which tells keys apart that occur twice. It holds
    /// until something before it is removed.
    typealias Path = [Int]

    /// White space.
    var before: JSONText
    public var root: JSONValue
    var after: JSONText

    /// - Throws: ``JSONSyntaxError`` for what is not JSON by RFC 8259, or doesn't keep to the rules.
    public static func read(_ bytes: [UInt8], _ rules: JSONRules) throws(JSONSyntaxError) -> JSONDocument {
        try JSONScanner.scan(bytes, rules)
    }

    init(before: JSONText, root: JSONValue, after: JSONText) {
        self.before = before
        self.root = root
        self.after = after
    }

    public var bytes: [UInt8] { before + root.bytes + after }

    // MARK: Finding

    /// All values that a pointer names: more than one where a key occurs twice.
    func paths(to pointer: JSONPointer) -> [Path] {
        var found: [(path: Path, value: JSONValue)] = [([], root)]
        for token in pointer.tokens {
            found = found.flatMap { path, value in value.children(token).map { (path + [$0.index], $0.value) } }
        }
        return found.map(\.path)
    }

    /// Where the values are that a condition holds for, in the order of the document.
    func paths(where condition: (JSONValue) -> Bool) -> [Path] {
        var found: [Path] = []
        var unseen: [(path: Path, value: JSONValue)] = [([], root)]
        while let (path, value) = unseen.popLast() {
            if condition(value) { found.append(path) }
            for index in (0..<value.count).reversed() { unseen.append((path + [index], value.child(at: index))) }
        }
        return found
    }

    /// The pointer that names the value at a path.
    func pointer(of path: Path) -> JSONPointer {
        var tokens: [String] = []
        var value = root
        for index in path {
            switch value {
            case .object(let object):
                let member = object.members[index]
                tokens.append(member.name)
                value = member.value
            case .array(let array):
                tokens.append(String(index))
                value = array.elements[index].value
            case .string, .literal: break
            }
        }
        return JSONPointer(tokens: tokens)
    }

    /// The value at a path; replacing it changes these bytes alone.
    subscript(path: Path) -> JSONValue {
        get { path.reduce(root) { $0.child(at: $1) } }
        set { root.replace(at: path[...], with: newValue) }
    }

    // MARK: Editing

    /// Removes members and elements with their commas; and what contained them, where nothing else is left in that, up
    /// to but without the root.
    mutating func remove(_ paths: some Sequence<Path>) {
        var removed = Set(paths)
        var unseen = Array(removed)
        while let path = unseen.popLast() {
            let parent = Array(path.dropLast())
            let isEmptied = (0..<self[parent].count).allSatisfy { removed.contains(parent + [$0]) }
            if isEmptied, !parent.isEmpty, removed.insert(parent).inserted { unseen.append(parent) }
        }
        // From the end, so that the paths that are still to come hold; what goes with its container is passed over.
        for path in removed.sorted(by: { $1.lexicographicallyPrecedes($0) }) {
            guard let index = path.last,
                !path.indices.dropFirst().contains(where: { removed.contains(Array(path[..<$0])) })
            else { continue }
            let parent = Array(path.dropLast())
            self[parent] = self[parent].removing(at: index)
        }
    }

    /// Sets a member of the object at `path`: each that has the key gets the value, else one is added at the end. Does nothing where there is no object.
    mutating func set(_ key: String, to value: JSONValue, inObjectAt path: Path) {
        guard case .object(var object) = self[path] else { return }
        let places = object.members.indices.filter { object.members[$0].isNamed(key) }
        for place in places { object.members[place].value = value }
        if places.isEmpty { object.append(key, value) }
        self[path] = .object(object)
    }
}

extension JSONValue {
    /// The members of that name, or the element of that index.
    fileprivate func children(_ token: String) -> [(index: Int, value: JSONValue)] {
        switch self {
        case .object(let object):
            return object.members.enumerated().filter { $1.isNamed(token) }.map { ($0, $1.value) }
        case .array(let array):
            guard let index = Int(token), String(index) == token, array.elements.indices.contains(index) else {
                return []
            }
            return [(index, array.elements[index].value)]
        case .string, .literal: return []
        }
    }

    /// Members or elements.
    fileprivate var count: Int {
        switch self {
        case .object(let object): object.members.count
        case .array(let array): array.elements.count
        case .string, .literal: 0
        }
    }

    fileprivate func child(at index: Int) -> JSONValue {
        switch self {
        case .object(let object): object.members[index].value
        case .array(let array): array.elements[index].value
        case .string, .literal: self
        }
    }

    fileprivate mutating func replace(at path: ArraySlice<Int>, with value: JSONValue) {
        guard let index = path.first else {
            self = value
            return
        }
        switch self {
        case .object(var object):
            object.members[index].value.replace(at: path.dropFirst(), with: value)
            self = .object(object)
        case .array(var array):
            array.elements[index].value.replace(at: path.dropFirst(), with: value)
            self = .array(array)
        case .string, .literal: break
        }
    }

    /// The white space that belonged to the place goes with it, so that the layout of the rest stays.
    fileprivate func removing(at index: Int) -> JSONValue {
        switch self {
        case .object(var object):
            object.members.remove(at: index)
            if index == object.members.count, !object.members.isEmpty { object.members[index - 1].after = [] }
            if object.members.isEmpty { object.closing = [] }
            return .object(object)
        case .array(var array):
            array.elements.remove(at: index)
            if index == array.elements.count, !array.elements.isEmpty { array.elements[index - 1].after = [] }
            if array.elements.isEmpty { array.closing = [] }
            return .array(array)
        case .string, .literal: return self
        }
    }
}
