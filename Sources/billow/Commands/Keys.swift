import ArgumentParser
import BillowEngine
import BillowStore
import BillowTimeline
import Foundation
import Turbulence

struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make, list and revoke access keys.",
        discussion:
            "Only the hash of a key is stored. A server on the same database applies each change within a second.",
        subcommands: [Create.self, List.self, Revoke.self, Sign.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key and print it; it can't be shown again.")

        @OptionGroup var common: CommonOptions

        @Option(help: "The name of the key, 1 to 100 characters.")
        var name = "key"

        @Option(help: "The scopes of the key, a list of \(AccessScopes.allNames.joined(separator: ", ")).")
        var scope = "read"

        func validate() throws {
            guard (1...100).contains(name.count) else {
                throw ValidationError("--name has \(name.count) characters; it must have 1 to 100")
            }
            guard AccessScopes(list: scope) != nil else {
                throw ValidationError(
                    "--scope is '\(scope)'; it must be a list of \(AccessScopes.allNames.joined(separator: ", "))")
            }
        }

        func run() async throws {
            try await Failure.reported {
                guard let scopes = AccessScopes(list: scope) else { throw Failure(.usage, "--scope can't be used") }
                try await common.withStore { store in
                    let key = KeyText.make()
                    try await store.add(key.record(name: name, scopes: scopes, createdAt: SystemClock.now()))
                    print(key.text)
                    Terminal.write(
                        "key \(key.id), scope \(scopes.names.joined(separator: ", ")): save it now, it can't be shown "
                            + "again")
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the keys' ids, scopes, dates and names.")

        @OptionGroup var common: CommonOptions

        func run() async throws {
            try await Failure.reported {
                try await common.withStore(.reading) { store in
                    for key in try await store.accessKeys() {
                        let fate = key.revokedAt.map { "revoked \($0)" } ?? "valid"
                        let scopes = key.scopes.names.joined(separator: ",")
                        print("\(key.id)\t\(scopes)\t\(key.createdAt)\t\(fate)\t\(key.name)")
                    }
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a key.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "The key's id, as list prints it.")
        var id: String

        func run() async throws {
            try await Failure.reported {
                try await common.withStore { store in
                    guard try await store.revokeAccessKey(id: id, at: SystemClock.now()) else {
                        throw Failure(.data, "there is no valid key '\(id)'")
                    }
                }
            }
        }
    }

    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a signed address, for clients that can't send the header X-API-Key.",
            discussion: "The key is read from standard input. A signed address allows reading only.")

        @Argument(help: "Path and query, such as /export/hexagons.csv?hours=6.")
        var address: String

        @Option(help: "How long the signature is valid, an ISO 8601 duration.")
        var lasts = "PT1H"

        func validate() throws {
            guard address.hasPrefix("/"), !address.contains("#") else {
                throw ValidationError("'\(address)' is no path; it must begin with / and have no #")
            }
            guard let seconds = ISODuration.seconds(lasts), seconds > 0 else {
                throw ValidationError("--lasts is '\(lasts)'; it must be a duration above 0, such as PT1H")
            }
        }

        func run() async throws {
            try await Failure.reported {
                guard let line = readLine(), let key = KeyText(line) else {
                    throw Failure(.usage, "standard input holds no key")
                }
                let end = SystemClock.now().advanced(by: ISODuration.seconds(lasts) ?? 0)
                print(SignedAddress.sign(Self.encoded(address), with: key, expires: end))
            }
        }

        /// The address with the characters encoded that no request line may have, such as blanks. The signature is of
        /// what clients send.
        private static func encoded(_ address: String) -> String {
            let refused = Set(#" "<>\^`|"#.utf8)
            return address.utf8.reduce(into: "") { text, byte in
                if byte <= 0x20 || byte >= 0x7F || refused.contains(byte) {
                    text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
                } else {
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                }
            }
        }
    }
}

extension CommonOptions {
    /// Runs a body with the database of the settings, and closes it afterwards.
    fileprivate func withStore(
        _ access: StoreAccess = .writing, _ body: (any SQLStore) async throws -> Void
    ) async throws {
        let settings = try settings(needs: access == .writing ? .database : .stored)
        let store = try await settings.openDatabase(access)
        try await body(store)
        try store.close()
    }
}
