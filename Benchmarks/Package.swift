// swift-tools-version: 6.2
import PackageDescription

// The programs are measured as they are installed, so nothing of the root package is built in: this builds in seconds.
// What lies in `inner` belongs to the root package, whose modules it measures.
let targets: [Target] = [
    .executableTarget(
        name: "remux",
        linkerSettings: ["avformat", "avcodec", "avutil"].map { .linkedLibrary($0) }),
    .executableTarget(name: "jpeg-floor", linkerSettings: [.linkedLibrary("jpeg")]),
    .executableTarget(name: "bench"),
    .testTarget(name: "BenchTests", dependencies: ["bench"]),
]

// The root package's house rules.
for target in targets where target.name != "remux" && target.name != "jpeg-floor" {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}

let package = Package(name: "benchmarks", targets: targets)
