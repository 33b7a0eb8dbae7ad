import ArgumentParser
import BillowAreas
import BillowEngine
import BillowStore
import Foundation
import NIOCore
import Synchronization

/// The failure of a command: one clear message, and the exit status of its kind.
///
/// Source: sysexits.h
struct Failure: Error {
    enum Kind: Int32 {
        case usage = 64
        case data = 65
        case unavailable = 69
        case software = 70
        case inputOutput = 74
    }

    var kind: Kind
    var message: String

    /// Runs a command's body, prints its failure and exits with the status.
    static func reported(_ body: () async throws -> Void) async throws {
        do { try await body() } catch let exit as ExitCode { throw exit } catch {
            let failure = Failure(error)
            Terminal.write("billow: \(failure.message)")
            throw ExitCode(failure.kind.rawValue)
        }
    }

    /// Like `reported`, but SIGINT and SIGTERM cancel the body. The body cleans up, and the signal then ends the
    /// process in the usual way.
    static func reportedUnlessInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await reported(body) }
        let received = Mutex<Int32?>(nil)
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                received.withLock { $0 = number }
                task.cancel()
            }
            source.resume()
            return source
        }
        let result = await task.result
        sources.forEach { $0.cancel() }
        if let number = received.withLock({ $0 }) {
            signal(number, SIG_DFL)
            kill(getpid(), number)
        }
        try result.get()
    }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as StoreError: self.init(Kind(of: error), Self.message(of: error))
        case EngineError.store(let error): self.init(Kind(of: error), Self.message(of: error))
        case EngineError.tooManyCorners(let error):
            self.init(
                Kind(of: error), "the smoothed polygons would have \(error.corners) corners; the limit is \(error.most)"
            )
        case EngineError.tooManyGridValues(let error):
            self.init(Kind(of: error), "the grid would have \(error.values) values; the limit is \(error.most)")
        case let error as SocketAddressError.UnknownHost:
            self.init(Kind(of: error), "\(error.host):\(error.port) can't be listened on: the host isn't known")
        default: self.init(Kind(of: error), "\(error)")
        }
    }

    private static func message(of error: StoreError) -> String {
        guard case .corrupt(let path, _) = error else { return error.description }
        return "\(error); billow check lists the damage, and billow salvage copies the readable data of \(path)"
    }
}

/// The server can't listen on its address.
struct ListenError: Error, CustomStringConvertible {
    var host: String
    var port: Int
    var cause: IOError

    var description: String {
        let address = "\(host):\(port)"
        return switch cause.errnoCode {
        case EADDRINUSE: "\(address) is taken; choose another port with --port"
        case EACCES: "\(address) may not be listened on: permission denied"
        case EADDRNOTAVAIL: "\(host) is no address of this machine"
        default: "\(address) can't be listened on: \(cause)"
        }
    }
}

/// Output for people, on standard error.
enum Terminal {
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    static func write(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    /// A progress bar that redraws itself on one line; no output if standard error is not a terminal.
    static func progress(_ name: String, fraction: Double?, count: Int) {
        guard isInteractive else { return }
        let width = 30
        let bar: String
        if let fraction {
            let filled = Int((min(max(fraction, 0), 1) * Double(width)).rounded())
            bar =
                "[" + String(repeating: "#", count: filled) + String(repeating: " ", count: width - filled) + "] "
                + "\(Int((min(max(fraction, 0), 1) * 100).rounded(.down))) %"
        } else {
            bar = "…"
        }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(name) \(bar) \(count) records".utf8))
    }

    static func endProgress() {
        guard isInteractive else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
}
