import Foundation
import TestSupport
import Testing

@Suite("The container") struct ContainerTests {
    @Test("hadolint finds nothing wrong with the Dockerfile")
    func dockerfile() async throws {
        let lint = try await Command.run(
            Repository.folder.appending(path: "Dockerfile").path,
            executable: Repository.folder.appending(path: ".build/oracles/bin/hadolint"))
        #expect(lint.status == 0, "\(lint.output)\(lint.errors)")
    }
}
