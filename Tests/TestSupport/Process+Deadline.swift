import Foundation

extension Process {
    /// Starts it, and kills it where it has not ended by itself in ten minutes. So neither its end nor the end of its
    /// output is waited for without bound; its status then tells that it was killed.
    package func runWithDeadline() throws {
        try run()
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(600)) { [weak self] in
            guard let self, isRunning else { return }
            kill(processIdentifier, SIGKILL)
        }
    }
}
