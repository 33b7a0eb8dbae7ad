// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "billow",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "billow", targets: ["billow"]),
        .library(name: "SkyPath", targets: ["SkyPath"]),
        .library(name: "OpenSky", targets: ["OpenSky"]),
        .library(name: "AviationWeather", targets: ["AviationWeather"]),
        .library(
            name: "BillowKernel",
            targets: ["Geometry", "Turbulence", "BillowSnapshot", "BillowAreas", "BillowRaster", "BillowTiles"]),
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
        .systemLibrary(name: "CMemory"),
        .systemLibrary(name: "CVector"),
        .systemLibrary(name: "CFreeType", pkgConfig: "freetype2", providers: [.apt(["libfreetype-dev"])]),

        .target(name: "Geometry", dependencies: ["CH3"], swiftSettings: strict),
        .target(name: "Turbulence", dependencies: ["Geometry"], swiftSettings: strict),
        .target(
            name: "BillowAreas", dependencies: ["Turbulence", "Geometry", "BillowSnapshot"], swiftSettings: strict),
        .target(name: "BillowTimeline", dependencies: ["Turbulence"], swiftSettings: strict),
        .target(
            name: "BillowRaster",
            dependencies: ["Turbulence", "Geometry", "WireJSON", "CPNG", "CDeflate", "CFreeType", "CVector"],
            swiftSettings: strict),
        .target(
            name: "BillowSnapshot", dependencies: ["Turbulence", "Geometry", "CDeflate"], swiftSettings: strict),
        .target(
            name: "BillowTiles", dependencies: ["Turbulence", "Geometry", "BillowSnapshot", "BillowRaster"],
            swiftSettings: strict),
        .target(
            name: "BillowStore",
            dependencies: [
                "Turbulence", "Geometry", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(
            name: "BillowExchange", dependencies: ["Turbulence", "Geometry", "AviationWeather", "WireJSON"],
            swiftSettings: strict),
        .target(name: "WireJSON", swiftSettings: strict),
        .target(
            name: "WireHTTP",
            dependencies: [
                "WireJSON",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "OpenSky",
            dependencies: [
                "WireHTTP", "WireJSON", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "SkyPath",
            dependencies: [
                "Geometry", "WireHTTP", "WireJSON", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "AviationWeather",
            dependencies: [
                "WireHTTP", "WireJSON", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "BillowSync",
            dependencies: [
                "Turbulence", "Geometry", "BillowStore", "BillowExchange", "BillowTimeline", "OpenSky", "SkyPath",
                "AviationWeather", "WireHTTP", "WireJSON",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
        .target(
            name: "UpstreamSimulator",
            dependencies: [
                "Geometry", "WireJSON", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(
            name: "BillowEngine",
            dependencies: [
                "Turbulence", "Geometry", "BillowSnapshot", "BillowAreas", "BillowStore", "BillowSync", "BillowTiles",
                "BillowRaster", "BillowExchange", "BillowTimeline", "CMemory",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(
            name: "BillowHTTP",
            dependencies: [
                "BillowEngine", "Turbulence", "Geometry", "BillowSnapshot", "BillowAreas", "BillowStore", "BillowSync",
                "BillowTiles", "BillowRaster", "BillowExchange", "BillowTimeline", "WireJSON", "CDeflate",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "billow",
            dependencies: [
                "BillowEngine", "BillowHTTP", "BillowSync", "BillowStore", "BillowSnapshot", "BillowTiles",
                "BillowRaster", "BillowExchange", "BillowTimeline", "UpstreamSimulator", "OpenSky", "SkyPath",
                "AviationWeather",
                "Turbulence", "Geometry", "WireHTTP", "WireJSON", "CMemory",
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
            name: "TestSupport", dependencies: ["BillowStore", "Turbulence"], path: "Tests/TestSupport",
            swiftSettings: strict),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AviationWeather", "BillowEngine", "BillowExchange", "BillowHTTP", "BillowRaster", "BillowSnapshot",
                "BillowTiles", "BillowTimeline", "Geometry",
                "OpenSky", "SkyPath", "Turbulence",
            ], path: "Fuzz/Targets", swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "GeometryTests", dependencies: ["Geometry", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "TurbulenceTests", dependencies: ["TestSupport", "Turbulence", "Geometry"], swiftSettings: strict),
        .testTarget(
            name: "BillowTimelineTests", dependencies: ["BillowTimeline", "Turbulence"], swiftSettings: strict),
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
            dependencies: ["TestSupport", "BillowTiles", "BillowRaster", "BillowSnapshot", "Turbulence", "Geometry"],
            swiftSettings: strict),
        .testTarget(
            name: "BillowStoreTests",
            dependencies: [
                "TestSupport", "BillowStore", "Turbulence", "Geometry", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BillowExchangeTests",
            dependencies: ["BillowExchange", "AviationWeather", "Turbulence", "Geometry"],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "OpenSkyTests",
            dependencies: [
                "OpenSky", "UpstreamSimulator", "TestSupport", "WireHTTP",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
        .testTarget(
            name: "AviationWeatherTests",
            dependencies: [
                "AviationWeather", "UpstreamSimulator",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
        .testTarget(
            name: "SkyPathTests",
            dependencies: [
                "SkyPath", "UpstreamSimulator", "Geometry", "WireHTTP", "WireJSON",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "BillowSyncTests",
            dependencies: [
                "TestSupport", "BillowSync", "BillowStore", "BillowSnapshot", "BillowExchange", "OpenSky", "SkyPath",
                "AviationWeather", "UpstreamSimulator", "WireJSON",
                "Turbulence", "Geometry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .testTarget(
            name: "BillowHTTPTests",
            dependencies: [
                "TestSupport", "BillowEngine", "BillowHTTP", "BillowSync", "BillowStore", "BillowSnapshot",
                "BillowTiles",
                "BillowRaster",
                "BillowExchange", "WireJSON", "Turbulence", "Geometry",
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "billow", "BillowRaster", "BillowTimeline",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
