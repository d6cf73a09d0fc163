import Glibc

nonisolated(unsafe) private var target: FuzzTarget?

/// libFuzzer's way in, before the first input: the program's name says which target is meant. `make fuzz` links it to a name
/// for each.
@_cdecl("LLVMFuzzerInitialize")
public func chooseTarget(
    _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>>?
) -> CInt {
    let name = CommandLine.arguments[0].split(separator: "/").last.map(String.init) ?? ""
    unsafe target = FuzzTarget.all.first { $0.name == name }
    if unsafe target != nil { return 0 }
    print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
    exit(64)
}

@_cdecl("LLVMFuzzerTestOneInput")
public func readOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe target?.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
