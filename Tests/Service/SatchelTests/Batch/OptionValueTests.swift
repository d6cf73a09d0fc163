import SatchelCore
import Foundation
import Testing

@testable import satchel

@Suite struct OptionValueTests {
    @Test func `sizes and times have units`() {
        #expect(ByteCount(argument: "4G")?.bytes == 4 << 30)
        #expect(ByteCount(argument: "512m")?.bytes == 512 << 20)
        #expect(ByteCount(argument: "99999999999T") == nil)
        #expect(ByteCount(argument: "-1") == nil)
        #expect(TimeSpan(argument: "10m")?.duration == .seconds(600))
        #expect(TimeSpan(argument: "0") == nil)
    }

    @Test func `a crop is a word, a point or a rectangle inside the picture`() {
        #expect(Crop(argument: "attention") == .attention)
        #expect(Crop(argument: "0.5,0.25") == .focalPoint(x: 0.5, y: 0.25))
        #expect(Crop(argument: "0,0,1,0.5") == .rect(UnitRect(x: 0, y: 0, width: 1, height: 0.5)))
        for text in ["", "1", "2,0", "0,0,1,1.1", "0,0,0,1", "a,b"] { #expect(Crop(argument: text) == nil, "\(text)") }
    }

    @Test func `bytes and seconds read as people read them`() {
        #expect(Quantity.bytes(999) == "999 B")
        #expect(Quantity.bytes(184_302) == "184 kB")
        #expect(Quantity.bytes(3_121_884) == "3.1 MB")
        #expect(Quantity.seconds(0.152) == "0.15 s")
        #expect(Quantity.seconds(250) == "4 min 10 s")
    }
}
