import Testing

@testable import TraceExport

/// Source: W3C Trace Context, section 3.2.3
private let published = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

@Suite("traceparent") struct TraceContextTests {
    @Test("the example of the specification is read and written")
    func known() throws {
        let context = try #require(TraceContext(header: published))
        #expect("\(context.trace)" == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(context.span == 0x00f0_67aa_0ba9_02b7 && context.isSampled)
        #expect(context.header == published)
    }

    @Test(
        "a header that must be ignored is none",
        arguments: [
            "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ])
    func ignored(_ header: String) { #expect(TraceContext(header: header) == nil) }

    @Test("a later version may add parts, and of the flags one counts")
    func later() {
        #expect(TraceContext(header: "01\(published.dropFirst(2))-more")?.isSampled == true)
        #expect(TraceContext(header: "\(published.dropLast(2))fe")?.isSampled == false)
    }
}
