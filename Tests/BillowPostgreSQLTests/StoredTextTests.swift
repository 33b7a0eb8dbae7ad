import BillowStore
import Testing

@Suite("Text for PostgreSQL")
struct StoredTextTests {
    @Test(
        "every text comes back as it went, and no stored text holds U+0000",
        arguments: [
            "", "plain", "naïve \u{0} 'id'", "\u{0}", "\u{E000}", "\u{E000}0", "\u{E000}\u{E000}", "\u{0}\u{E000}\u{0}",
            "\u{E001} \u{E000}", "日本 👩‍👩‍👧", "\u{E000}\u{0}0",
        ])
    func roundTrip(text: String) {
        let stored = StoredText.encoded(text)
        #expect(!stored.contains(0))
        #expect(Array(stored.withUnsafeBytes { StoredText.decoded($0) }.utf8) == Array(text.utf8))
    }
}
