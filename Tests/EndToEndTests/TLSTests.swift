import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import TestSupport
import Testing

@Suite("TLS by settings, over real sockets")
struct TLSTests: SecureSuite {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A client that trusts one certificate only.
    private func withClient<Result>(
        trusting name: String, _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(folder.path("\(name).pem")))
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: HTTPClient.Configuration(tlsConfiguration: tls))
        let result: Result
        do { result = try await body(client) } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
        return result
    }

    private func get(_ client: HTTPClient, _ server: SecureServer, _ path: String) async throws -> Answer {
        let response = try await client.execute(
            HTTPClientRequest(url: "https://127.0.0.1:\(server.port)\(path)"), timeout: .seconds(300))
        let body = try await response.body.collect(upTo: 64 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, body: Data(buffer: body))
    }

    // MARK: Tests

    @Test("answers, links and cached tiles are those of a server without TLS, at https")
    func answers() async throws {
        try makeCertificate("one")
        let server = try await start()
        try await withClient(trusting: "one") { client in
            #expect(try await get(client, server, "/healthz").status == 200)
            let document = try await get(client, server, "/tiles/hexagons.json").json
            #expect(
                document["tiles"][0].string?.hasPrefix("https://127.0.0.1:\(server.port)/tiles/hexagons/") == true)
            let tiles = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<50 { group.addTask { try await get(client, server, "/tiles/hexagons/latest/1/0/0.png") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(tiles.map(\.status)) == [200])
            #expect(Set(tiles.map(\.body)).count == 1)
            let unknown = try await get(client, server, "/nothing")
            #expect(unknown.status == 404)
        }
        try await stop(server)
        let words = try server.command.standardError
        #expect(!words.contains("error"), "\(words)")
    }

    @Test("pipelined requests are answered in order, and a slow header gets a 408 over TLS too")
    func deadlines() async throws {
        try makeCertificate("one")
        let server = try await start(["BILLOW_SERVER_TIMEOUTS_HEADER": "PT1S", "BILLOW_SERVER_TIMEOUTS_IDLE": "PT1S"])
        let pipelined = try await client(
            server,
            """
            s=tls()
            s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: a\\r\\n\\r\\nGET /nothing HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
            import re; print(re.findall("HTTP/1.1 [0-9]+", rest(s).decode()))
            """)
        // The idle connection is closed afterwards.
        #expect(pipelined.contains("['HTTP/1.1 200', 'HTTP/1.1 404']"))
        let slow = try await client(
            server, #"s=tls(); s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n"); print(rest(s).decode())"#)
        #expect(slow.hasPrefix("HTTP/1.1 408"))
        #expect(try await client(server, "print(len(rest(tls())))").hasPrefix("0"))
        // No handshake, and one that stops after its first bytes.
        #expect(try await client(server, "print('closed', len(rest(raw)))").hasPrefix("closed 0"))
        let part = try await client(
            server, #"raw.sendall(bytes([0x16,3,1,2,0,1,0,1])); print('closed', len(rest(raw)))"#)
        #expect(part.hasPrefix("closed"))
        // Not a word of TLS.
        let plain = try await client(
            server,
            #"raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); print('closed', b"200 OK" in rest(raw))"#)
        #expect(plain.hasPrefix("closed False"))
        let answer = try await withClient(trusting: "one") { try await get($0, server, "/healthz") }
        #expect(answer.status == 200)
        try await stop(server)
        let words = try server.command.standardError
        #expect(!words.contains("error"), "\(words)")
    }

    @Test("the limit of connections holds over TLS, and idle ones yield to new ones")
    func connections() async throws {
        try makeCertificate("one")
        let server = try await start(["BILLOW_SERVER_MAX_CONNECTIONS": "16"])
        let count = try await client(
            server,
            """
            def connect():
                r=socket.create_connection(("127.0.0.1",\(server.port))); r.settimeout(300); return c.wrap_socket(r)
            held=[connect() for _ in range(40)]
            held[-1].sendall(b"GET /healthz HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
            print(b"200 OK" in rest(held[-1]))
            """)
        #expect(count.hasPrefix("True"))
        try await stop(server)
    }

    @Test("a server ends in time although a client over TLS is idle")
    func shutdown() async throws {
        try makeCertificate("one")
        let server = try await start()
        async let client = client(
            server,
            """
            s=tls(); s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"); s.recv(100)
            open("\(folder.path("connected"))","w").close(); rest(s); print("closed")
            """)
        try await eventually("a connection") { FileManager.default.fileExists(atPath: folder.path("connected")) }
        try await stop(server)
        #expect(try await client.hasPrefix("closed"))
    }

    @Test("a renewed certificate is used from the next connection on; half a renewal changes nothing")
    func reload() async throws {
        try makeCertificate("one")
        try makeCertificate("two")
        let server = try await start()
        func isTrusted(_ name: String) async throws -> Bool {
            try await withClient(trusting: name) { client in
                do { return try await get(client, server, "/healthz").status == 200 } catch is NIOSSLError {
                    return false
                } catch let error as HTTPClientError where error == .tlsHandshakeTimeout { return false }
            }
        }
        #expect(try await isTrusted("one"))
        #expect(try await !isTrusted("two"))
        // The certificate alone isn't that of the key.
        try put("two.pem", at: "tls.pem")
        try await eventually("the log to say so") {
            try server.command.standardError.contains("the certificate has changed and can't be used")
        }
        #expect(try await isTrusted("one"))
        try put("two.key", at: "tls.key")
        try await eventually("the new certificate") { try await isTrusted("two") }
        #expect(try await !isTrusted("one"))
        try await stop(server)
    }

    @Test("files that can't be used are named at the start, with what is wrong")
    func settings() async throws {
        try makeCertificate("one")
        try makeCertificate("two")
        let text = try folder.write("text.pem", "no certificate")
        #expect(
            try Program.run(
                "openssl",
                [
                    "ec", "-aes256", "-passout", "pass:x", "-in", folder.path("one.key"), "-out",
                    folder.path("secret.key"),
                ]
            ).status == 0)
        func refusal(_ certificate: String?, _ key: String?) async throws -> Finished {
            var environment: [String: String] = [:]
            environment["BILLOW_SERVER_TLS_CERTIFICATE"] = certificate
            environment["BILLOW_SERVER_TLS_KEY"] = key
            return try await Command.run(
                "serve", "--port", "0", "--database", folder.path("y.sqlite"), environment: environment)
        }
        let (certificate, key) = (folder.path("one.pem"), folder.path("one.key"))
        for (given, words) in [
            ((certificate, nil), "server.tls.key is missing"), ((nil, key), "server.tls.certificate is missing"),
            ((certificate, folder.path("none.key")), "there is no such file"),
            ((text, key), "it has no certificate in PEM"), ((certificate, text), "it has no key in PEM"),
            ((certificate, folder.path("two.key")), "it is not the key of the certificate"),
            ((certificate, folder.path("secret.key")), "without a passphrase"),
        ] as [((String?, String?), String)] {
            let finished = try await refusal(given.0, given.1)
            #expect([64, 74].contains(finished.status) && finished.errors.contains(words), "\(finished.errors)")
        }
    }
}
