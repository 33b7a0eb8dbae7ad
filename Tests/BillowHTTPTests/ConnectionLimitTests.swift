import EngineTestSupport
import Foundation
import HummingbirdTesting
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Connections are as many as there is room for")
struct ConnectionLimitTests {
    @Test("idle connections make room for new ones, the longest idle first")
    func full() async throws {
        try await withWorld(connections: .patient(maximum: 16)) { world in
            try await world.listening { port in
                let first = try RawClient(port: port)
                var idle: [RawClient] = []
                for _ in 0..<100 { idle.append(try RawClient(port: port)) }
                #expect(await first.read() == "")
                for _ in 0..<20 {
                    let client = try RawClient(port: port)
                    client.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    #expect(await client.read().hasPrefix("HTTP/1.1 200 "))
                    #expect(world.application.connections.count <= 16)
                }
            }
        }
    }

    @Test("where all are busy, a new one is closed at once, and let in when there is room")
    func busy() async throws {
        try await withWorld(connections: .patient(maximum: 16)) { world in
            try await world.listening { port in
                var busy: [RawClient] = []
                for _ in 0..<16 {
                    let client = try RawClient(port: port)
                    client.write(
                        "POST /alerts HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
                    #expect(await client.read(until: "100").hasPrefix("HTTP/1.1 100 "))
                    busy.append(client)
                }
                #expect(try await RawClient.answer(to: "", port: port) == "")
                busy.removeLast()
                try await eventually("there is room") {
                    let get = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                    return try await RawClient.answer(to: get, port: port).hasPrefix("HTTP/1.1 200 ")
                }
            }
        }
    }

    @Test("listeners leave room for requests, however few connections there may be")
    func listeners() {
        #expect(ConnectionSettings().maximumListeners == 1_000)
        #expect(ConnectionSettings(maximum: 60).maximumListeners == 30)
        #expect(ConnectionSettings(maximum: 1).maximumListeners == 1)
    }

    @Test(
        "a limit of descriptors leaves a reserve for files and upstreams",
        arguments: [(64, 12, 20), (1_024, 12, 884), (65_536, 12, 8_192), (40, 12, 1)])
    func descriptors(limit: Int, used: Int, connections: Int) {
        #expect(FileDescriptors.connections(wanted: 8_192, limit: limit, used: used) == connections)
    }

    @Test("the soft limit of descriptors is raised to the hard one")
    func raised() {
        let limit = FileDescriptors.raiseLimit()
        #expect(limit >= 1_024 && FileDescriptors.raiseLimit() == limit)
        #expect(FileDescriptors.used() > 2)
    }

    private func channel(_ address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 4_000)
        return channel
    }

    @Test("an address has its share, a network of IPv6 as one; this machine's proxies have all")
    func addresses() throws {
        let table = ConnectionTable(ConnectionSettings(maximum: 64, maximumPerAddress: 2), logger: World.quiet())
        func accept(_ address: String) throws -> ConnectionTable.Acceptance { table.accept(try channel(address)) }
        for address in ["192.0.2.1", "::ffff:192.0.2.2", "2001:db8::1"] {
            for _ in 0..<2 { #expect(try accept(address) == .accepted) }
            #expect(try accept(address) == .refused)
        }
        #expect(try accept("192.0.2.2") == .refused)
        #expect(try accept("2001:db8::ffff:1") == .refused)
        #expect(try accept("2001:db8:0:1::1") == .accepted)
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            for _ in 0..<3 { #expect(try accept(address) == .accepted) }
        }
        let count = table.count
        let last = try channel("192.0.2.9")
        #expect(table.accept(last) == .accepted && table.accept(last) == .accepted && table.count == count + 1)
        table.remove(last)
        table.remove(last)
        #expect(table.count == count)
    }
}
