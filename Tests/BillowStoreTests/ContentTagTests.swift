import Testing

@testable import BillowStore

@Suite("Content tags")
struct ContentTagTests {
    /// Source: Aumasson, Bernstein, SipHash, appendix A, and the reference implementation's vectors (key 00 01 … 0f,
    /// messages 00, 00 01, …)
    @Test("SipHash is as its authors say")
    func sipHashIsAsItsAuthorsSay() {
        let key = SipHash.Key(first: 0x0706_0504_0302_0100, second: 0x0f0e_0d0c_0b0a_0908)
        #expect(SipHash(key).finalized() == 0x726f_db47_dd0e_0e31)
        var hash = SipHash(key)
        hash.mix(0x0706_0504_0302_0100)
        #expect(hash.finalized() == 0x93f5_f579_9a93_2462)
        #expect(hash.finalized(tail: 0x000e_0d0c_0b0a_0908, tailBytes: 7) == 0xa129_ca61_49be_45e5)
    }
}
