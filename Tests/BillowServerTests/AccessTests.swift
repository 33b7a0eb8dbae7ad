import BillowStore
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing
import Turbulence

@testable import BillowServer

@Suite("Keys open what is not open to everybody")
struct AccessTests {
    private static let data = [
        "/tiles/hexagons.json", "/tiles/hexagons/latest/4/8/5.png", "/collections", "/collections/hexagons/items",
        "/export/observations.csv", "/legend.json", "/styles", "/status",
    ]

    @Test("without anonymous reading every route that shows data needs a key with scope read, and answers are private")
    func readingNeedsAKey() async throws {
        try await withWorld(anonymousRead: false) { world in
            let reader = try await world.key(.read)
            let other = try await world.key([.ingest, .admin])
            for uri in Self.data {
                let without = try await world.get(uri)
                #expect(without.status == .unauthorized, "\(uri)")
                #expect(without.headers[.wwwAuthenticate] != nil && without.headers[.accessControlAllowOrigin] == "*")
                #expect(try without.json["code"]?.string == "key-needed")
                let wrongScope = try await world.send(.get, uri, key: other.text)
                #expect(wrongScope.status == .forbidden)
                #expect(try wrongScope.json["code"]?.string == "scope-missing")
                let answer = try await world.send(.get, uri, key: reader.text)
                #expect(answer.status == .ok, "\(uri): \(answer.text.prefix(200))")
                let control = try answer.headers[.cacheControl].orMissing()
                #expect(!control.contains("public"), "\(uri): \(control)")
                #expect(control.contains("private") || control.contains("no-"), "\(uri): \(control)")
                #expect(answer.headers[.vary]?.contains("X-API-Key") == true)
            }
            // How it is, and the viewer's own files, hold no data.
            for uri in ["/healthz", "/readyz", "/"] { #expect(try await world.get(uri).status == .ok, "\(uri)") }
            #expect(try await world.get("/nothing").status == .notFound)
        }
    }

    @Test("with anonymous reading no key is asked for, and answers stay public")
    func anonymous() async throws {
        try await withWorld { world in
            for uri in Self.data { #expect(try await world.get(uri).status == .ok, "\(uri)") }
            let tile = try await world.send(.get, "/tiles/hexagons/latest/4/8/5.png", key: "bk_wrong")
            #expect(tile.status == .ok && tile.headers[.cacheControl]?.hasPrefix("public") == true)
        }
    }

    @Test("a key that is unknown, altered, revoked or no key is refused, and too many in a minute are 429")
    func wrongKeys() async throws {
        try await withWorld(anonymousRead: false) { world in
            let key = try await world.key(.read)
            let last = key.text.last == "0" ? "1" : "0"
            let wrong = [
                "", "x", KeyText.make().text, String(key.text.dropLast()) + last, key.text + "0", key.text.uppercased(),
                "bk_\(key.id)_", "bk_\(key.id)_" + String(repeating: "0", count: 64),
            ]
            for text in wrong {
                #expect(try await world.send(.get, "/status", key: text).status == .unauthorized, "\(text)")
            }
            #expect(try await world.send(.get, "/status", key: key.text).status == .ok)
            for _ in wrong.count..<Gate.wrongKeysAMinute { _ = try await world.send(.get, "/status", key: "x") }
            let over = try await world.send(.get, "/status", key: "x")
            #expect(over.status == .tooManyRequests && over.headers[.retryAfter] == "60")
            // Who has a key is not locked out by who has none.
            #expect(try await world.send(.get, "/status", key: key.text).status == .ok)
            #expect(try await world.store.revokeAccessKey(id: key.id, at: world.clock.now))
            world.clock.advance(by: 60)
            #expect(try await world.send(.get, "/status", key: key.text).status == .unauthorized)
            #expect(try await world.store.revokeAccessKey(id: key.id, at: world.clock.now) == false)
        }
    }

    @Test("a signed address opens itself until it expires, and only as it was signed")
    func signedAddress() async throws {
        try await withWorld(anonymousRead: false) { world in
            let key = try await world.key([.read, .ingest])
            let end = noon.advanced(by: 60)
            let plain = "/collections/hexagons/items?hours=6&limit=5"
            let signed = SignedAddress.sign(plain, with: key, expires: end)
            let answer = try await world.get(signed)
            #expect(answer.status == .ok, "\(answer.text)")
            #expect(answer.headers[.cacheControl]?.contains("private") == true)
            #expect(try await world.get(signed, method: .head).status == .ok)
            #expect(try await world.get(SignedAddress.sign("/status", with: key, expires: end)).status == .ok)

            let altered = [
                signed.replacing("hours=6", with: "hours=4"), signed.replacing("hexagons", with: "observations"),
                signed.replacing("expires=\(end.seconds)", with: "expires=\(end.seconds + 1)"),
                signed + "&hours=2", String(signed.dropLast()), signed.replacing("&sig=", with: "&sig=00"),
                SignedAddress.sign(plain, with: .make(), expires: end), plain + "&key=\(key.id)",
                plain + "&sig=x&key=\(key.id)&expires=1",
            ]
            for uri in altered { #expect(try await world.get(uri).status == .unauthorized, "\(uri)") }
            let ingest = SignedAddress.sign("/observations", with: key, expires: end)
            #expect(try await world.send(.post, ingest, "[]").status == .forbidden)

            world.clock.advance(by: 60)
            let late = try await world.get(signed)
            #expect(late.status == .unauthorized)
            #expect(try late.json["code"]?.string == "signature-expired")
        }
    }

    @Test("what is kept of a key does not open anything")
    func onlyTheHashIsKept() async throws {
        try await withWorld(anonymousRead: false) { world in
            let key = try await world.key(.read)
            let kept = try await world.store.accessKeys()
            #expect(kept.map(\.id) == [key.id] && kept[0].hash.count == 64 && !key.text.contains(kept[0].hash))
            #expect(!"\(kept) \(key)".contains(key.text))
            #expect(try await world.send(.get, "/status", key: "bk_\(key.id)_\(kept[0].hash)").status == .unauthorized)
        }
    }

    @Test("keys are as random as they say: no two alike, 256 bits", arguments: [200])
    func random(count: Int) {
        let keys = (0..<count).map { _ in KeyText.make() }
        #expect(Set(keys.map(\.text)).count == count && Set(keys.map(\.id)).count == count)
        #expect(keys.allSatisfy { KeyText($0.text)?.id == $0.id && $0.text.utf8.count == 84 })
    }
}
