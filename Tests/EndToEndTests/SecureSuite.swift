import Foundation
import TestSupport
import Testing

/// A `billow serve` over TLS that is up.
struct SecureServer: Sendable {
    let command: Command
    let port: Int
}

/// A suite whose servers have certificates in its folder.
protocol SecureSuite: Sendable {
    var folder: TemporaryFolder { get }
}

extension SecureSuite {
    // MARK: Certificates

    /// Makes a certificate for 127.0.0.1 and its key, under names.
    func makeCertificate(_ name: String, days: Int = 30) throws {
        let made = try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                "\(days)",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                "-keyout", folder.path("\(name).key"), "-out", folder.path("\(name).pem"),
            ])
        #expect(made.status == 0)
    }

    /// Puts a file in the place of another, as tools that renew certificates do.
    func put(_ name: String, at place: String) throws {
        let temporary = folder.path("temporary-\(UUID().uuidString)")
        try FileManager.default.copyItem(atPath: folder.path(name), toPath: temporary)
        #expect(rename(temporary, folder.path(place)) == 0)
    }

    // MARK: The server

    func start(_ environment: [String: String] = [:]) async throws -> SecureServer {
        try put("one.pem", at: "tls.pem")
        try put("one.key", at: "tls.key")
        let command = try Command(
            ["serve", "--port", "0", "--database", folder.path("x.sqlite")],
            environment: [
                "BILLOW_SERVER_TLS_CERTIFICATE": folder.path("tls.pem"),
                "BILLOW_SERVER_TLS_KEY": folder.path("tls.key"),
            ].merging(environment) { $1 })
        return SecureServer(command: command, port: try await command.port(after: "Billow is at https://127.0.0.1:"))
    }

    func stop(_ server: SecureServer) async throws {
        server.command.signal(SIGTERM)
        #expect(try await server.command.status() == 0)
    }

    /// What a client gets, in Python, that speaks TLS and then writes as `code` says. `code` sees the socket `s`.
    func client(_ server: SecureServer, _ code: String) async throws -> String {
        let script = """
            import socket,ssl,sys,time
            c=ssl.create_default_context(cafile=sys.argv[1]); c.check_hostname=False
            raw=socket.create_connection(("127.0.0.1",\(server.port))); raw.settimeout(300)
            def tls(): return c.wrap_socket(raw)
            def rest(s):
                data=b""
                try:
                    while True:
                        part=s.recv(65536)
                        if not part: break
                        data+=part
                except (ssl.SSLError, ConnectionError): pass
                return data
            \(code)
            """
        let file = try folder.write("client-\(UUID().uuidString).py", script)
        let certificate = folder.path("one.pem")
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try Program.run("python3", [file, certificate]).output })
            }
        }
    }
}
