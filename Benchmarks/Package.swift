// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "BillowBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "billow", path: "..")],
    targets: [
        .executableTarget(
            name: "BillowBenchmarks", dependencies: [.product(name: "BillowKernel", package: "billow")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ])
    ],
    swiftLanguageModes: [.v6]
)
