// swift-tools-version: 6.2
import PackageDescription

let optimised: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// What the targets of the fuzzers use as a whole.
let fuzzed: [Target.Dependency] = [
    "SatchelCore", "GIF", "StillCodecs", "ClipCodecs", "CFFmpeg", "CSandbox", "Confinement", "Payloads",
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOEmbedded", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
]

// MARK: Targets

// A target exists only where the compiler must forbid an import. docs/design/overview.md describes each.
var targets: [Target] = [
    // C libraries, as modules.
    .systemLibrary(name: "CVips", pkgConfig: "gobject-2.0"),
    .systemLibrary(name: "CFFmpeg"),
    .systemLibrary(name: "CHEIF"),
    .systemLibrary(name: "CJXL"),
    .systemLibrary(name: "CMagic", pkgConfig: "libmagic"),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq"),
    .target(
        name: "CJPEG", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))],
        linkerSettings: [.linkedLibrary("jpeg")]),
    .target(name: "CScaling", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
    .target(name: "CSandbox", linkerSettings: [.linkedLibrary("seccomp")]),
    .target(name: "CAssets"),

    // Values that every side shares.
    .target(name: "SatchelCore"),

    // The confined side. Loops over pixels and samples: optimised in debug builds too, where they would take fifty times
    // as long.
    .target(name: "GIF", dependencies: ["CScaling"], swiftSettings: optimised),
    .target(
        name: "StillCodecs", dependencies: ["SatchelCore", "GIF", "CVips", "CJPEG", "CScaling", "CMagic"],
        swiftSettings: optimised),
    .target(
        name: "ClipCodecs", dependencies: ["SatchelCore", "GIF", "StillCodecs", "CFFmpeg", "CHEIF", "CJXL"],
        swiftSettings: optimised),
    .target(name: "Confinement", dependencies: ["SatchelCore", "CSandbox"]),
    .target(name: "MediaCodec", dependencies: ["SatchelCore", "StillCodecs", "Confinement"]),
    .executableTarget(name: "satchel-stills", dependencies: ["StillCodecs", "MediaCodec"]),
    .executableTarget(name: "satchel-codec", dependencies: ["StillCodecs", "ClipCodecs", "MediaCodec"]),

    // The service side.
    .target(
        name: "Platform",
        dependencies: [
            "SatchelCore", "CSandbox", .product(name: "Metrics", package: "swift-metrics"),
            .product(name: "SystemPackage", package: "swift-system"),
        ]),
    .target(
        name: "Ingest",
        dependencies: [
            "SatchelCore", "Platform", "CSandbox",
            .product(name: "SystemPackage", package: "swift-system"),
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
        ]),
    .target(name: "CodecPool", dependencies: ["SatchelCore", "Platform", "CSandbox"]),
    .target(
        name: "Jobs",
        dependencies: [
            "SatchelCore", "Platform", "Ingest", "CodecPool", "Stores",
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "Crypto", package: "swift-crypto"),
        ]),
    .target(name: "Postgres", dependencies: ["CPostgres"]),
    .target(
        name: "Bytes",
        dependencies: [
            "SatchelCore", "Platform", "CSandbox",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "SystemPackage", package: "swift-system"),
        ]),
    .target(
        name: "Stores",
        dependencies: [
            "SatchelCore", "Platform", "Postgres", "Bytes",
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "SystemPackage", package: "swift-system"),
        ]),
    .target(
        name: "S3",
        dependencies: [
            "SatchelCore", "Platform", "CSandbox",
            .product(name: "SystemPackage", package: "swift-system"),
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "Crypto", package: "swift-crypto"),
        ]),
    .target(name: "Payloads", dependencies: ["SatchelCore"]),
    .target(
        name: "HTTPServer",
        dependencies: [
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOExtras", package: "swift-nio-extras"),
            .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            .product(name: "NIOCertificateReloading", package: "swift-nio-extras"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ]),
    .target(
        name: "API",
        dependencies: [
            "SatchelCore", "Platform", "Ingest", "CodecPool", "Jobs", "Stores", "Payloads", "HTTPServer", "CAssets",
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "Metrics", package: "swift-metrics"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ],
        exclude: [
            "Description/openapi.json", "Preview/preview.css", "Preview/preview.js", "Console/console.css",
            "Console/console.js", "Description/docs.js", "Description/Guides/receive_callbacks.py",
            "Description/Guides/submit_once.sh", "Description/Guides/read_errors.py", "Description/Guides/sizing.py",
        ]),
    .executableTarget(
        name: "satchel",
        dependencies: [
            "SatchelCore", "Platform", "Ingest", "CodecPool", "Jobs", "Stores", "Bytes", "S3", "Payloads", "API",
            "HTTPServer", "CSandbox",
            .product(name: "SystemPackage", package: "swift-system"),
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "Configuration", package: "swift-configuration"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "Metrics", package: "swift-metrics"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "Yams", package: "Yams"),
        ]),

    // What applications link: no dependency but Foundation.
    .target(
        name: "SatchelClient",
        dependencies: [
            .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
        ]),

    // Tests, one target per seam; the fault codec takes the codec's place and misbehaves on command, the fetch probe
    // runs the fetcher inside a network namespace.
    .target(name: "TestSupport", dependencies: ["SatchelCore"]),
    // The origin and the service that tests talk to; apart, so that the codec side's tests build without NIO.
    .target(
        name: "ServiceTestSupport",
        dependencies: [
            "Platform", "TestSupport", "PostgresTestSupport",
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ]),
    // PostgreSQL's server, as tests start it.
    .target(
        name: "PostgresTestSupport", dependencies: ["CPostgres", "TestSupport"]),
    .target(name: "FaultInjection"),
    .executableTarget(
        name: "fault-codec", dependencies: ["SatchelCore", "Confinement", "FaultInjection"]),
    .executableTarget(name: "pool-driver", dependencies: ["SatchelCore", "CodecPool"]),
    .testTarget(name: "SatchelCoreTests", dependencies: ["SatchelCore", "TestSupport"]),
    .testTarget(
        name: "PlatformTests",
        dependencies: [
            "SatchelCore", "Platform", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
        ]),
    .testTarget(name: "GIFTests", dependencies: ["GIF", "TestSupport"]),
    .target(
        name: "HuffmanFuzz", dependencies: ["CJPEG"], path: "Tests/Fuzz/huffman",
        exclude: ["picture.py"],
        cSettings: [.headerSearchPath("../../../Sources/Codec/CJPEG")]),
    .testTarget(
        name: "CodecsTests",
        dependencies: ["SatchelCore", "StillCodecs", "ClipCodecs", "CJPEG", "GIF", "HuffmanFuzz", "TestSupport"]),
    .testTarget(
        name: "CodecPoolTests",
        dependencies: [
            "SatchelCore", "CodecPool", "CSandbox", "FaultInjection", "TestSupport", "fault-codec", "pool-driver",
            "satchel-codec", "satchel-stills",
        ]),
    .executableTarget(
        name: "fetch-probe",
        dependencies: [
            "SatchelCore", "Ingest", "Stores",
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
        ]),
    .testTarget(
        name: "IngestTests",
        dependencies: [
            "SatchelCore", "Platform", "Ingest", "TestSupport", "ServiceTestSupport", "fetch-probe",
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ],
        exclude: ["Fetching/HostileURLs.txt"]),
    .testTarget(name: "PostgresTests", dependencies: ["Postgres", "PostgresTestSupport", "TestSupport"]),
    .testTarget(
        name: "StoresTests",
        dependencies: [
            "SatchelCore", "Platform", "Postgres", "Stores", "Bytes", "S3", "TestSupport", "PostgresTestSupport",
            .product(name: "SystemPackage", package: "swift-system"),
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "GRDBSQLite", package: "GRDB.swift"),
            .product(name: "Crypto", package: "swift-crypto"),
        ]),
    .testTarget(
        name: "S3Tests",
        dependencies: [
            "SatchelCore", "S3", "TestSupport", "ServiceTestSupport",
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "Crypto", package: "swift-crypto"),
        ]),
    // Follows the program's calls from outside, to kill it at one of them or to write them all down.
    .executableTarget(name: "kernel-calls"),
    // Runs the program where the kernel refuses calls that not every file system has.
    .executableTarget(
        name: "refuse-calls", linkerSettings: [.linkedLibrary("seccomp")]),
    .testTarget(
        name: "DurabilityTests",
        dependencies: [
            "SatchelCore", "Stores", "TestSupport", "ServiceTestSupport", "satchel", "fault-codec", "fetch-probe",
            "kernel-calls",
        ]),
    .testTarget(
        name: "HTTPServerTests",
        dependencies: [
            "HTTPServer", "TestSupport",
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ]),
    .testTarget(name: "PayloadsTests", dependencies: ["SatchelCore", "Payloads", "TestSupport"]),
    .testTarget(
        name: "APITests",
        dependencies: [
            "SatchelCore", "Platform", "Ingest", "CodecPool", "Jobs", "Stores", "Bytes", "S3", "Payloads", "API",
            "HTTPServer", "TestSupport", "ServiceTestSupport", "PostgresTestSupport", "satchel-codec",
            "satchel-stills", "fault-codec",
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "Logging", package: "swift-log"),
        ]),
    .testTarget(
        name: "JobsTests",
        dependencies: [
            "SatchelCore", "Platform", "Ingest", "CodecPool", "Jobs", "Postgres", "Stores", "TestSupport",
            "PostgresTestSupport", "ServiceTestSupport", "satchel-codec", "satchel-stills", "fault-codec",
        ]),
    .testTarget(
        name: "FuzzTests",
        dependencies: fuzzed + [
            "API", "CodecPool", "HTTPServer", "Ingest", "Platform", "Stores", "satchel", "TestSupport",
        ],
        path: "Tests/Fuzz", exclude: ["corpora", "dictionaries", "huffman", "Driver.swift", "fuzz.sh", "seeds.py"],
        sources: ["FuzzTests", "Targets"]),
    .testTarget(
        name: "SatchelClientTests",
        dependencies: [
            "SatchelCore", "SatchelClient", "TestSupport", "ServiceTestSupport", "satchel", "satchel-codec",
            "satchel-stills",
        ]),
    .testTarget(
        name: "ServeTests",
        dependencies: [
            "SatchelCore", "S3", "Stores", "TestSupport", "ServiceTestSupport", "PostgresTestSupport", "satchel",
            "satchel-codec", "satchel-stills",
            "fault-codec",
        ]),
    .testTarget(
        name: "SatchelTests",
        dependencies: [
            "SatchelCore", "API", "Ingest", "CodecPool", "Jobs", "Payloads", "Stores", "TestSupport",
            "ServiceTestSupport", "satchel", "satchel-codec", "satchel-stills", "fault-codec", "refuse-calls",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
]

// Pieces measured from the inside: a part of `make bench` and, in instructions, of `make test`; here because it needs this
// package's modules.
if Context.environment["SATCHEL_BENCHMARKS"] != nil {
    targets.append(.systemLibrary(name: "CCallgrind", path: "Benchmarks/callgrind"))
    targets.append(
        .executableTarget(
            name: "inner-bench",
            dependencies: [
                "SatchelCore", "StillCodecs", "ClipCodecs", "S3", "Stores", "CCallgrind",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Benchmarks/inner", exclude: ["check.sh", "thresholds.txt"]))
}

// One program of all that is fuzzed (`make fuzz`), which ends where something is wrong. Of the service's modules it has what
// reads foreign bytes alone, so that it builds in a minute or two under a sanitizer.
if Context.environment["SATCHEL_FUZZ"] != nil {
    let parts: [Target] = [
        .target(name: "Platform", dependencies: ["SatchelCore"], sources: ["String+Sanitized.swift"]),
        .target(
            name: "CodecPool", dependencies: ["SatchelCore", "Platform"], sources: ["CodecMessage+Validation.swift"]),
        .target(
            name: "Ingest", dependencies: ["SatchelCore"],
            sources: [
                "FetchURL.swift", "FetchAllowance.swift", "FetchGuard.swift", "IPAddress.swift",
                "SpecialAddresses.swift",
            ].map { "Fetching/\($0)" }),
        .target(name: "Stores", dependencies: ["SatchelCore"], sources: ["Tokens/TokenFormat.swift"]),
        .target(
            name: "HTTPServer",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            exclude: [
                "AcceptedConnection.swift", "ConnectionChannel.swift", "Listener.swift", "ReloadingCertificate.swift",
                "TLSFiles.swift",
            ]),
        .target(
            name: "API", dependencies: ["Payloads", .product(name: "NIOCore", package: "swift-nio")],
            sources: [
                "Delivery/ByteRange.swift", "Delivery/EntityTags.swift", "Reading/FileName.swift",
                "Reading/HeaderParameters.swift", "Reading/MultipartParser.swift", "Uploads/StructuredField.swift",
            ]),
        .target(
            name: "satchel", dependencies: ["SatchelCore", .product(name: "Yams", package: "Yams")],
            sources: [
                "Configuration/PlainValue+YAML.swift", "Configuration/YAMLFault.swift", "Output/Quantity.swift",
                "Profiles/ProfileFile.swift", "Profiles/ProfileReader.swift",
            ]),
    ]
    targets.removeAll { target in parts.contains { $0.name == target.name } || target.name == "FuzzTests" }
    targets += parts
    targets.append(
        .executableTarget(
            name: "satchel-fuzz", dependencies: fuzzed + parts.map { .byName(name: $0.name) }, path: "Tests/Fuzz",
            exclude: ["corpora", "dictionaries", "huffman", "FuzzTests", "fuzz.sh", "seeds.py"],
            sources: ["Driver.swift", "Targets"],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]))
    // Of what is taken from others no coverage is counted; `swift build` asks for the address sanitizer everywhere.
    for target in targets where target.type != .system {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [.unsafeFlags(["-O", "-sanitize=fuzzer,address", "-parse-as-library"])]
    }
}

var dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
]

// MARK: A part of the package

// SATCHEL_TARGETS=GIFTests,CodecsTests,satchel-codec keeps these targets and what they need, so that work on one side
// doesn't build the other: `SATCHEL_TARGETS=GIFTests,CodecsTests swift test --scratch-path .build-codecs`.
if let roots = Context.environment["SATCHEL_TARGETS"] {
    var wanted = Set(roots.split(separator: ",").map(String.init))
    var packages: Set<String> = []
    var before = -1
    while before != wanted.count {
        before = wanted.count
        for target in targets where wanted.contains(target.name) {
            for dependency in target.dependencies {
                switch dependency {
                case .byNameItem(let name, _), .targetItem(let name, _): wanted.insert(name)
                case .productItem(_, let package, _, _): packages.formUnion([package].compactMap(\.self))
                @unknown default: break
                }
            }
        }
    }
    targets.removeAll { !wanted.contains($0.name) }
    dependencies.removeAll { dependency in
        guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
        return !packages.contains { location.hasSuffix("/\($0)") }
    }
}

// MARK: The tree

/// Which folder each target is in: `Codec` is the side that reads hostile bytes, in processes of its own.
let folders: [String: [String]] = [
    "Sources/Shared": ["SatchelCore", "CSandbox"],
    "Sources/Codec": [
        "CVips", "CMagic", "CFFmpeg", "CHEIF", "CJXL", "CJPEG", "CScaling", "GIF", "StillCodecs", "ClipCodecs",
        "Confinement", "MediaCodec", "satchel-codec", "satchel-stills",
    ],
    "Sources/Service": [
        "Platform", "Ingest", "CodecPool", "Jobs", "Stores", "Bytes", "S3", "Postgres", "CPostgres", "Payloads",
        "HTTPServer", "API", "CAssets", "satchel",
    ],
    "Sources/Client": ["SatchelClient"],
    "Tests/Shared": ["SatchelCoreTests"],
    "Tests/Codec": ["GIFTests", "CodecsTests"],
    "Tests/Service": [
        "PlatformTests", "IngestTests", "CodecPoolTests", "JobsTests", "StoresTests", "S3Tests", "PostgresTests",
        "PayloadsTests", "HTTPServerTests", "APITests", "SatchelTests", "ServeTests", "DurabilityTests",
    ],
    "Tests/Client": ["SatchelClientTests"],
    "Tests/Support": [
        "TestSupport", "ServiceTestSupport", "PostgresTestSupport", "FaultInjection", "fault-codec", "fetch-probe",
        "pool-driver", "kernel-calls", "refuse-calls",
    ],
]
for (folder, names) in folders {
    for target in targets where names.contains(target.name) { target.path = "\(folder)/\(target.name)" }
}

// MARK: House rules

for target in targets where target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6),
            .strictMemorySafety(),
            .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}

let package = Package(
    name: "satchel",
    // What the client needs; the service runs on Linux.
    platforms: [.macOS("12.3"), .iOS("15.4"), .tvOS("15.4"), .watchOS("8.5"), .visionOS(.v1)],
    products: [.library(name: "SatchelClient", targets: ["SatchelClient"])].filter { product in
        targets.contains { $0.name == product.name }
    },
    dependencies: dependencies,
    targets: targets
)
