import Foundation
import TestSupport
import Testing

@Suite("The notebook")
struct NotebookTests {
    private struct NotebookResult: Decodable {
        var hexagons: Int
        var counted: Int
        var colours: Int
    }

    @Test("the notebook runs from its first cell to its last, and draws what the server has")
    func run() async throws {
        let folder = try TemporaryFolder()
        let time = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: -60))
        var lines = "lon,lat,altitude,severity,observedAt\n"
        for row in -10...10 {
            for column in -10...10 {
                let severity = (row + column + 20) % 5
                lines += "\(-100 + Double(column)),\(40 + Double(row) * 0.8),35000,\(severity),\(time)\n"
            }
        }
        let database = folder.path("notebook.sqlite")
        let imported = try await Command.run(
            "import", "--database", database, try folder.write("notebook.csv", lines))
        #expect(imported.status == 0, "\(imported.errors)")
        let server = try await Server("--database", database)
        let notebook = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/notebooks/turbulence.ipynb").path
        let answer: NotebookResult = try Oracle.ask(
            "notebook.py",
            [
                "base": "http://127.0.0.1:\(server.port)", "notebook": notebook,
                "picture": folder.path("turbulence.png"),
            ])
        #expect(answer.hexagons > 400 && answer.counted == answer.hexagons)
        #expect(answer.colours > 4)
        #expect(try await server.stop() == 0)
    }
}
