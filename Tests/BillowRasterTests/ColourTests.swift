import BillowRaster
import Testing

@Suite("Colours")
struct ColourTests {
    @Test(
        "hexadecimal text in both cases",
        arguments: [
            ("#FFF04C", StraightColour(red: 255, green: 240, blue: 76)),
            ("#fff04c", StraightColour(red: 255, green: 240, blue: 76)),
            ("#89898980", StraightColour(red: 137, green: 137, blue: 137, alpha: 128)),
            ("#00000000", StraightColour.clear),
            ("#aBcDeF01", StraightColour(red: 0xAB, green: 0xCD, blue: 0xEF, alpha: 1)),
        ])
    func parses(_ text: String, _ colour: StraightColour) { #expect(StraightColour(text) == colour) }

    @Test(
        "anything else is refused",
        arguments: [
            "", "#", "FFF04C", "#FFF", "#FFF04", "#FFF04C8", "#FFF04C801", "#GGGGGG", "#+1+2+3", "# 12345", "#é1234",
        ])
    func refuses(_ text: String) { #expect(StraightColour(text) == nil) }

    @Test("text round trip")
    func roundTrip() {
        for text in ["#000000", "#0A0B0C", "#FFFFFF", "#FF7100"] {
            #expect(StraightColour(text)?.hexadecimal == text)
        }
    }

    @Test("premultiplying rounds to the nearest for every channel and alpha")
    func premultiplies() {
        for alpha in UInt8.min...UInt8.max {
            let wrong = (UInt8.min...UInt8.max).filter { channel in
                let colour = StraightColour(red: channel, green: 255, blue: 0, alpha: alpha).premultiplied
                let exact = (Double(channel) * Double(alpha) / 255).rounded()
                return Double(colour.red) != exact || colour.green != alpha || colour.blue != 0 || colour.alpha != alpha
            }
            #expect(wrong.isEmpty, "alpha \(alpha)")
        }
    }

    @Test("straight and back is exact wherever the alpha allows the channel")
    func unpremultiplies() {
        for alpha in UInt8(1)...UInt8.max {
            let wrong = (UInt8.min...alpha).filter { channel in
                let colour = PremultipliedColour(red: channel, green: 0, blue: alpha, alpha: alpha)
                return colour == nil || colour?.straight.premultiplied != colour
            }
            #expect(wrong.isEmpty, "alpha \(alpha)")
        }
        #expect(PremultipliedColour.clear.straight == .clear)
    }

    @Test("a channel above the alpha is refused")
    func refusesImpossible() {
        #expect(PremultipliedColour(red: 2, green: 0, blue: 0, alpha: 1) == nil)
        #expect(PremultipliedColour(red: 0, green: 0, blue: 1, alpha: 0) == nil)
        #expect(PremultipliedColour(red: 1, green: 1, blue: 1, alpha: 1) != nil)
    }
}
