// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

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
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CH3", pkgConfig: "h3"),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .target(name: "CGeodesic", linkerSettings: [.linkedLibrary("GeographicLib")]),
        .systemLibrary(name: "CMemory"),
        .systemLibrary(name: "CVector"),
        .systemLibrary(name: "CFreeType", pkgConfig: "freetype2", providers: [.apt(["libfreetype-dev"])]),
        // Without pkg-config: it names a run path, which the package manager refuses, and the system's own folders.
        .systemLibrary(name: "CEcCodes", providers: [.apt(["libeccodes-dev"])]),

        .target(name: "Geometry", dependencies: ["CGeodesic", "CH3"], swiftSettings: strict),
        .target(name: "GRIBKit", dependencies: ["CEcCodes", "Geometry"], swiftSettings: strict),
        .target(name: "GRIBMaking", dependencies: ["GRIBKit", "Geometry"], swiftSettings: strict),
        .target(name: "Turbulence", dependencies: ["Geometry"], swiftSettings: strict),
        .target(name: "Datasets", dependencies: ["Turbulence", "Geometry", "BillowFields"], swiftSettings: strict),
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
                "Datasets", "Turbulence", "Geometry", "BillowFields", "BillowSnapshot", "BillowRaster",
            ],
            swiftSettings: strict),
        .target(
            name: "BillowStore",
            dependencies: [
                "BillowFields", "Datasets", "Turbulence", "Geometry", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(
            name: "BillowExchange", dependencies: ["Datasets", "Turbulence", "Geometry", "AviationFormats", "JSONKit"],
            swiftSettings: strict),
        .target(name: "JSONKit", swiftSettings: strict),
        .target(
            name: "UpstreamKit",
            dependencies: [
                "JSONKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
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
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
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
                "UpstreamKit", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "BillowSync",
            dependencies: [
                "Datasets", "Turbulence", "Geometry", "BillowFields", "BillowStore", "BillowExchange",
                "BillowTimeline", "OpenSky", "SkyPath", "AviationFormats", "AviationWeather", "GRIBKit",
                "NOAAGuidance", "UpstreamKit", "JSONKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
        .target(
            name: "UpstreamSimulator",
            dependencies: [
                "Geometry", "GRIBKit", "GRIBMaking", "JSONKit",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(
            name: "BillowEngine",
            dependencies: [
                "Datasets", "Turbulence", "Geometry", "BillowFields", "BillowSnapshot", "BillowAreas", "BillowStore",
                "BillowSync", "BillowTiles",
                "BillowRaster", "BillowExchange", "BillowTimeline", "CMemory",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        // The routes' parameters, which the command line takes too: a folder of the HTTP module, and a module of its own
        // without HTTP.
        .target(
            name: "BillowParameters",
            dependencies: [
                "BillowEngine", "Turbulence", "Geometry", "BillowFields", "BillowSnapshot", "BillowStore",
                "BillowAreas",
                "BillowTiles", "BillowRaster", "BillowExchange", "BillowTimeline",
            ], path: "Sources/BillowHTTP/Parameters", swiftSettings: strict),
        .target(
            name: "BillowHTTP",
            dependencies: [
                "BillowEngine", "Datasets", "BillowParameters", "Turbulence", "Geometry", "BillowSnapshot",
                "BillowAreas",
                "BillowStore", "BillowSync",
                "BillowTiles", "BillowRaster", "BillowExchange", "BillowTimeline", "JSONKit", "CDeflate",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], exclude: ["Parameters"], swiftSettings: strict),
        .executableTarget(
            name: "billow",
            dependencies: [
                "BillowAreas", "BillowEngine", "BillowHTTP", "BillowParameters", "BillowSync", "BillowStore",
                "BillowSnapshot",
                "BillowTiles", "BillowRaster", "BillowExchange", "BillowTimeline", "UpstreamSimulator", "OpenSky",
                "SkyPath", "AviationWeather", "NOAAGuidance", "GRIBKit",
                "Datasets", "Turbulence", "Geometry", "UpstreamKit", "JSONKit", "CMemory",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Yams", package: "Yams"),
            ], swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["BillowFields", "BillowStore", "Geometry", "Turbulence"],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AviationFormats", "BillowEngine", "BillowExchange", "BillowHTTP", "BillowParameters", "BillowRaster",
                "BillowSnapshot",
                "BillowTiles", "BillowTimeline", "GRIBKit", "Geometry", "NOAAGuidance",
                "OpenSky", "SkyPath", "Turbulence",
            ], path: "Fuzz/Targets", swiftSettings: strict),
        // What a user's package could contain: it sees nothing that isn't public.
        .target(
            name: "Examples",
            dependencies: [
                "SkyPath", "OpenSky", "AviationWeather", "AviationFormats", "Geometry", "Turbulence", "Datasets",
                "BillowSnapshot", "BillowAreas", "BillowRaster", "BillowTiles",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], path: "Examples", packageAccess: false, swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "Examples", "AviationWeather", "BillowRaster", "BillowTiles", "Geometry", "SkyPath", "Turbulence",
                "UpstreamSimulator",
            ], swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "GeometryTests", dependencies: ["Geometry", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "GRIBKitTests", dependencies: ["GRIBKit", "GRIBMaking", "Geometry", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TurbulenceTests", dependencies: ["TestSupport", "Turbulence", "Geometry"], swiftSettings: strict),
        .testTarget(
            name: "DatasetsTests", dependencies: ["Datasets", "BillowExchange", "Turbulence", "Geometry"],
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
            name: "BillowSnapshotTests", dependencies: ["TestSupport", "BillowSnapshot", "Turbulence", "Geometry"],
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
        .testTarget(
            name: "BillowStoreTests",
            dependencies: [
                "TestSupport", "BillowFields", "BillowStore", "Turbulence", "Geometry",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "BillowExchangeTests",
            dependencies: ["Datasets", "BillowExchange", "AviationFormats", "Turbulence", "Geometry"],
            resources: [.copy("Fixtures")], swiftSettings: strict),
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
        .target(
            name: "EngineTestSupport", dependencies: ["Turbulence", "Geometry"], path: "Tests/EngineTestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "BillowEngineTests",
            dependencies: [
                "EngineTestSupport", "TestSupport", "BillowEngine", "BillowAreas", "BillowFields", "BillowStore",
                "BillowSnapshot", "BillowTiles",
                "BillowRaster", "Turbulence", "Geometry", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .testTarget(
            name: "BillowHTTPTests",
            dependencies: [
                "Datasets", "EngineTestSupport", "TestSupport", "BillowEngine", "BillowHTTP", "BillowParameters",
                "BillowSync",
                "BillowStore", "BillowSnapshot",
                "BillowTiles",
                "BillowRaster",
                "BillowExchange", "JSONKit", "UpstreamKit", "Turbulence", "Geometry",
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "TestSupport", "billow", "BillowEngine", "BillowRaster", "BillowStore", "BillowTimeline", "Turbulence",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
