// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// The packages that our dependencies depend on, with a product of each. They are named so that two builds have the
/// same versions: only what this file names is exact. The product is never built for us: it counts as a use of the
/// package, without which there is a warning. What our dependencies need of it is built all the same.
let indirect = [
    ("apple/swift-algorithms", "1.2.1", "Algorithms"),
    ("apple/swift-asn1", "1.7.4", "SwiftASN1"),
    ("apple/swift-async-algorithms", "1.1.4", "AsyncAlgorithms"),
    ("apple/swift-atomics", "1.3.0", "Atomics"),
    ("apple/swift-certificates", "1.21.1", "X509"),
    ("apple/swift-configuration", "1.4.0", "Configuration"),
    ("apple/swift-crypto", "4.5.2", "Crypto"),
    ("apple/swift-http-structured-headers", "1.7.0", "StructuredFieldValues"),
    ("apple/swift-metrics", "2.13.0", "Metrics"),
    ("apple/swift-nio-transport-services", "1.28.0", "NIOTransportServices"),
    ("apple/swift-numerics", "1.1.1", "RealModule"),
    ("apple/swift-service-context", "1.5.1", "ServiceContextModule"),
    ("apple/swift-system", "1.8.1", "SystemPackage"),
].map { path, version, product in
    (
        package: Package.Dependency.package(url: "https://github.com/\(path)", exact: Version(stringLiteral: version)),
        product: Target.Dependency.product(
            name: product, package: String(path.split(separator: "/")[1]), condition: .when(platforms: [.wasi]))
    )
}

let package = Package(
    name: "billow",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "billow", targets: ["billow"]),
        .library(name: "SkyPath", targets: ["SkyPath"]),
        .library(name: "OpenSky", targets: ["OpenSky"]),
        .library(name: "AviationWeather", targets: ["AviationWeather"]),
        .library(name: "AviationFormats", targets: ["AviationFormats"]),
        .library(
            name: "BillowKernel",
            targets: [
                "Geometry", "Turbulence", "Datasets", "BillowSnapshot", "BillowAreas", "BillowRaster", "BillowTiles",
            ]),
        // What Fuzz/run drives; debug builds only, because it sees inside modules.
        .library(name: "FuzzTargets", type: .static, targets: ["FuzzTargets"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ] + indirect.map(\.package),
    targets: [
        .systemLibrary(name: "CH3", pkgConfig: "h3", providers: [.brew(["h3"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"]), .brew(["libpng"])]),
        .systemLibrary(
            name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),
        .systemLibrary(
            name: "CBrotli", pkgConfig: "libbrotlienc", providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
        .systemLibrary(name: "CZstandard", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        // Without pkg-config: its file names the system's own include folder. The module map links the library.
        .systemLibrary(name: "CGEOS", providers: [.apt(["libgeos-dev"]), .brew(["geos"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(name: "CGeodesic", linkerSettings: [.linkedLibrary("GeographicLib")]),
        .systemLibrary(name: "CMemory"),
        // The commit, where `make` tells it. Without it a build is as good, and says the release alone.
        .target(
            name: "CBuild",
            cSettings: Context.environment["BUILD_COMMIT"].map { commit in
                [.define("BILLOW_BUILD_COMMIT", to: "\"\(commit.filter { $0.isLetter || $0.isNumber || $0 == "-" })\"")]
            } ?? []),
        // A part of Foundation's ICU data, where Scripts/build-packaged tells its file. Without it the target is empty.
        .target(
            name: "CICUData",
            cSettings: Context.environment["ICU_DATA"].map { [.define("BILLOW_ICU_DATA", to: "\"\($0)\"")] } ?? []),
        .systemLibrary(name: "CVector"),
        .systemLibrary(
            name: "CFreeType", pkgConfig: "freetype2", providers: [.apt(["libfreetype-dev"]), .brew(["freetype"])]),
        // Without pkg-config: it names a run path, which the package manager refuses, and the system's own folders.
        .systemLibrary(name: "CEcCodes", providers: [.apt(["libeccodes-dev"]), .brew(["eccodes"])]),

        .target(name: "CivilCalendar", swiftSettings: strict),
        .target(
            name: "SpanKit", dependencies: [.product(name: "Tracing", package: "swift-distributed-tracing")],
            swiftSettings: strict),
        // The tracer of the server. It knows HTTP, which those who record spans don't.
        .target(
            name: "TraceExport",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ], swiftSettings: strict),
        .target(name: "Digests", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "Geometry", dependencies: ["CGeodesic", "CH3", "CVector"], swiftSettings: strict),
        .target(name: "GRIBKit", dependencies: ["CEcCodes", "CivilCalendar", "Geometry"], swiftSettings: strict),
        .target(name: "GRIBMaking", dependencies: ["GRIBKit", "CivilCalendar", "Geometry"], swiftSettings: strict),
        .target(name: "Turbulence", dependencies: ["CivilCalendar", "Geometry"], swiftSettings: strict),
        .target(
            name: "Datasets", dependencies: ["AviationFormats", "Turbulence", "Geometry", "BillowFields"],
            swiftSettings: strict),
        .target(
            name: "BillowAreas", dependencies: ["Turbulence", "Geometry", "BillowSnapshot"], swiftSettings: strict),
        .target(name: "BillowFields", dependencies: ["Turbulence", "Geometry", "CDeflate"], swiftSettings: strict),
        .target(name: "BillowTimeline", dependencies: ["Turbulence"], swiftSettings: strict),
        .target(
            name: "BillowRaster",
            dependencies: [
                "Datasets", "Turbulence", "Geometry", "JSONKit", "CPNG", "CDeflate", "CFreeType", "CVector",
            ],
            swiftSettings: strict),
        .target(
            name: "BillowSnapshot", dependencies: ["BillowFields", "Turbulence", "Geometry", "CDeflate"],
            swiftSettings: strict),
        .target(
            name: "BillowTiles",
            dependencies: [
                "Datasets", "Turbulence", "Geometry", "BillowFields", "BillowSnapshot", "BillowRaster", "CGEOS",
            ],
            swiftSettings: strict),
        .target(
            name: "BillowStore",
            dependencies: [
                "BillowFields", "Datasets", "Turbulence", "Geometry", "SpanKit",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        // Another database behind the same protocol. libpq is loaded when it is needed, so nothing is linked.
        .target(
            name: "BillowPostgreSQL", dependencies: ["BillowStore"], swiftSettings: strict),
        .target(
            name: "BillowExchange", dependencies: ["Datasets", "Turbulence", "Geometry", "AviationFormats", "JSONKit"],
            swiftSettings: strict),
        .target(name: "JSONKit", swiftSettings: strict),
        .target(
            name: "UpstreamKit",
            dependencies: [
                "CivilCalendar", "JSONKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                "Digests",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "OpenSky",
            dependencies: [
                "UpstreamKit", "JSONKit", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "SkyPath",
            dependencies: [
                "Geometry", "UpstreamKit", "JSONKit", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(name: "AviationFormats", dependencies: ["JSONKit"], swiftSettings: strict),
        .target(
            name: "AviationWeather",
            dependencies: [
                "AviationFormats", "UpstreamKit", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "NOAAGuidance",
            dependencies: [
                "CivilCalendar", "UpstreamKit", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "BillowSync",
            dependencies: [
                "Datasets", "Turbulence", "Geometry", "BillowFields", "BillowStore", "BillowExchange",
                "BillowTimeline", "OpenSky", "SkyPath", "AviationFormats", "AviationWeather", "GRIBKit",
                "NOAAGuidance", "SpanKit", "UpstreamKit", "JSONKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ], swiftSettings: strict),
        .target(
            name: "UpstreamSimulator",
            dependencies: [
                "AviationFormats", "Datasets", "Geometry", "GRIBKit", "GRIBMaking", "JSONKit",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        // Files that others read: tilesets and archives of them.
        .target(
            name: "BillowPacks",
            dependencies: [
                "BillowExchange", "BillowRaster", "BillowTiles", "CDeflate", "CZlib", "CivilCalendar", "Datasets",
                "Geometry", "JSONKit", "Turbulence",
                "Digests",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], swiftSettings: strict),
        .target(
            name: "BillowEngine",
            dependencies: [
                "BillowPacks", "JSONKit", "SpanKit",
                "Datasets", "Turbulence", "Geometry", "BillowFields", "BillowSnapshot", "BillowAreas", "BillowStore",
                "BillowTiles", "BillowRaster", "BillowExchange", "BillowTimeline", "CMemory",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                "Digests",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        // The routes' parameters, which the command line takes too: a folder of the HTTP module, and a module of its
        // own without HTTP.
        .target(
            name: "BillowParameters",
            dependencies: [
                "BillowEngine", "BillowPacks", "Datasets", "Turbulence", "Geometry", "BillowFields", "BillowSnapshot",
                "BillowStore",
                "BillowAreas",
                "BillowTiles", "BillowRaster", "BillowExchange", "BillowTimeline", "Digests", "JSONKit",
            ], path: "Sources/BillowHTTP/Parameters", swiftSettings: strict),
        .target(
            name: "BillowHTTP",
            dependencies: [
                "BillowEngine", "BillowPacks", "Datasets", "BillowParameters", "Turbulence", "Geometry",
                "BillowSnapshot", "BillowAreas", "BillowFields", "BillowStore", "BillowSync", "BillowTiles",
                "BillowRaster", "BillowExchange", "BillowTimeline", "JSONKit", "CBrotli", "CDeflate", "CZstandard",
                "Digests", "SpanKit",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ], exclude: ["Parameters"], swiftSettings: strict),
        .executableTarget(
            name: "billow",
            dependencies: [
                "BillowAreas", "BillowEngine", "BillowPacks", "BillowHTTP", "BillowParameters", "BillowSync",
                "BillowPostgreSQL", "BillowStore",
                "BillowSnapshot",
                "BillowTiles", "BillowRaster", "BillowExchange", "BillowTimeline", "UpstreamSimulator", "OpenSky",
                "SkyPath", "AviationWeather", "NOAAGuidance", "GRIBKit",
                "Datasets", "Turbulence", "Geometry", "UpstreamKit", "JSONKit", "CBuild", "CICUData", "CMemory",
                "SpanKit",
                "TraceExport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Yams", package: "Yams"),
            ] + indirect.map(\.product), swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: ["BillowFields", "BillowPostgreSQL", "BillowStore", "Geometry", "TracedDisk", "Turbulence"],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AviationFormats", "BillowEngine", "BillowExchange", "BillowHTTP", "BillowParameters", "BillowRaster",
                "BillowSnapshot", "BillowTiles", "BillowTimeline", "Datasets", "GRIBKit", "Geometry", "NOAAGuidance",
                "OpenSky", "SkyPath", "Turbulence",
            ], path: "Fuzz/Targets", swiftSettings: strict),
        // What a user's package could contain: it sees nothing that isn't public.
        .target(
            name: "Examples",
            dependencies: [
                "SkyPath", "OpenSky", "AviationWeather", "AviationFormats", "Geometry", "Turbulence",
                "BillowSnapshot", "BillowAreas", "BillowRaster", "BillowTiles",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], path: "Examples", exclude: ["fleet"], packageAccess: false,
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "Examples", "AviationWeather", "BillowRaster", "BillowTiles", "Geometry", "SkyPath", "Turbulence",
                "UpstreamSimulator",
            ], swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "CivilCalendarTests", dependencies: ["CivilCalendar"], swiftSettings: strict),
        .testTarget(name: "DigestsTests", dependencies: ["Digests"], swiftSettings: strict),
        .testTarget(name: "GeometryTests", dependencies: ["Geometry", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "GRIBKitTests", dependencies: ["GRIBKit", "GRIBMaking", "Geometry", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TurbulenceTests", dependencies: ["TestSupport", "Turbulence", "Geometry"], swiftSettings: strict),
        .testTarget(
            name: "DatasetsTests",
            dependencies: ["AviationFormats", "Datasets", "BillowExchange", "Turbulence", "Geometry"],
            swiftSettings: strict),
        .testTarget(
            name: "BillowTimelineTests", dependencies: ["BillowTimeline", "Turbulence"], swiftSettings: strict),
        .testTarget(
            name: "BillowFieldsTests", dependencies: ["TestSupport", "BillowFields", "Turbulence", "Geometry"],
            swiftSettings: strict),
        .testTarget(
            name: "BillowRasterTests", dependencies: ["TestSupport", "BillowRaster", "Turbulence"],
            swiftSettings: strict),
        .testTarget(
            name: "BillowSnapshotTests",
            dependencies: ["Datasets", "TestSupport", "BillowSnapshot", "Turbulence", "Geometry"],
            swiftSettings: strict),
        .testTarget(
            name: "BillowAreasTests",
            dependencies: ["TestSupport", "BillowAreas", "BillowSnapshot", "Turbulence", "Geometry"],
            swiftSettings: strict),
        .testTarget(
            name: "BillowTilesTests",
            dependencies: [
                "Datasets", "TestSupport", "BillowTiles", "BillowRaster", "BillowSnapshot", "BillowFields",
                "Turbulence",
                "Geometry",
            ],
            swiftSettings: strict),
        .target(name: "TracedDisk", path: "Tests/TracedDisk"),
        .testTarget(
            name: "BillowStoreTests",
            dependencies: [
                "Datasets", "TestSupport", "BillowFields", "BillowPostgreSQL", "BillowStore", "Turbulence", "Geometry",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "BillowPostgreSQLTests",
            dependencies: ["BillowPostgreSQL", "BillowStore", "EngineTestSupport", "TestSupport", "Turbulence"],
            swiftSettings: strict),
        .testTarget(
            name: "BillowExchangeTests",
            dependencies: ["Datasets", "BillowExchange", "AviationFormats", "Turbulence", "Geometry"],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "TraceExportTests",
            dependencies: [
                "SpanKit", "TestSupport", "TraceExport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ], swiftSettings: strict),
        .testTarget(name: "JSONKitTests", dependencies: ["JSONKit"], swiftSettings: strict),
        .testTarget(
            name: "OpenSkyTests",
            dependencies: [
                "OpenSky", "UpstreamSimulator", "TestSupport", "UpstreamKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
        .testTarget(
            name: "AviationWeatherTests",
            dependencies: [
                "AviationWeather", "UpstreamKit", "UpstreamSimulator",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
        .testTarget(
            name: "NOAAGuidanceTests",
            dependencies: [
                "NOAAGuidance", "UpstreamSimulator", "GRIBKit", "Geometry", "TestSupport", "UpstreamKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "SkyPathTests",
            dependencies: [
                "TestSupport", "SkyPath", "UpstreamSimulator", "Geometry", "UpstreamKit", "JSONKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "BillowSyncTests",
            dependencies: [
                "Datasets", "TestSupport", "BillowSync", "BillowStore", "BillowSnapshot", "BillowExchange", "OpenSky",
                "SkyPath", "BillowFields", "GRIBKit", "GRIBMaking", "NOAAGuidance",
                "AviationWeather", "UpstreamSimulator", "JSONKit", "UpstreamKit",
                "Turbulence", "Geometry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .testTarget(
            name: "BillowPacksTests",
            dependencies: [
                "BillowExchange", "BillowPacks", "BillowTiles", "Datasets", "Geometry", "TestSupport", "Turbulence",
            ],
            swiftSettings: strict),
        .target(
            name: "EngineTestSupport", dependencies: ["Turbulence", "Geometry"], path: "Tests/EngineTestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "BillowEngineTests",
            dependencies: [
                "Datasets", "EngineTestSupport", "TestSupport", "BillowEngine", "BillowAreas", "BillowFields",
                "BillowStore",
                "BillowSync",
                "BillowSnapshot", "BillowTiles",
                "BillowRaster", "Turbulence", "Geometry", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .testTarget(
            name: "BillowHTTPTests",
            dependencies: [
                "BillowAreas", "BillowFields", "BillowPacks", "CBrotli", "CZlib", "CZstandard", "Datasets",
                "EngineTestSupport", "TestSupport",
                "BillowEngine", "BillowHTTP",
                "BillowParameters", "BillowSync",
                "BillowStore", "BillowSnapshot",
                "BillowTiles", "BillowTimeline",
                "BillowRaster",
                "BillowExchange", "JSONKit", "UpstreamKit", "Turbulence", "Geometry",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                "Digests",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "EngineTestSupport", "TestSupport", "billow", "BillowEngine", "BillowExchange", "BillowPostgreSQL",
                "BillowRaster", "BillowSnapshot", "BillowStore", "BillowSync", "BillowTimeline", "Datasets", "Geometry",
                "Turbulence", "UpstreamKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// `make test` sets this: most of a test's time goes where loops are hot. Nobody else may, for a package with such flags
// can't be a dependency.
if Context.environment["OPTIMISED_TESTS"] != nil {
    for target in package.targets where target.type == .regular || target.type == .executable {
        target.swiftSettings?.append(.unsafeFlags(["-O"]))
    }
}
