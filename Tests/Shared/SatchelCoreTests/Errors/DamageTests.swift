import SatchelCore
import Testing

@Suite struct DamageTests {
    @Test(arguments: [(0.0, true), (1, true), (2, true), (2.001, false), (100, false)])
    func `up to a fiftieth may be missing`(missing: Double, isDelivered: Bool) throws {
        let damage = Damage(.rows, missing: missing, of: 100)
        #expect(damage.isTolerable == isDelivered)
        if isDelivered {
            let loss = try damage.loss(because: "the file ends", when: .refuse)
            #expect((loss == nil) == (missing == 0))
        } else {
            #expect(throws: AttachmentError.corrupt(reason: "\(damage.what) are missing: the file ends")) {
                try damage.loss(because: "the file ends", when: .refuse)
            }
        }
    }

    @Test(arguments: WhenDamaged.allCases) func `nothing missing is no loss`(damaged: WhenDamaged) throws {
        #expect(try Damage(.frames, missing: 0, of: 0).loss(because: "it ends", when: damaged) == nil)
    }

    @Test(arguments: [0.001, 3, 50, 100]) func `a profile that salvages takes what is left`(missing: Double) throws {
        let loss = try Damage(.seconds(of: "its sound"), missing: missing, of: 100)
            .loss(because: "its packets are damaged", when: .salvage)
        #expect(loss?.reason == "its packets are damaged")
    }

    @Test func `what is missing is said in figures, and never as nothing`() {
        #expect(Damage(.rows, missing: 3, of: 480).what == "3 of 480 rows")
        #expect(Damage(.frames, missing: 1, of: 900).what == "1 of 900 frames")
        #expect(Damage(.seconds(of: "its sound"), missing: 0.05, of: 2).what == "0.05 s of 2.00 s of its sound")
        #expect(Damage(.seconds(of: "its sound"), missing: 0.000_1, of: 2).what == "0.01 s of 2.00 s of its sound")
        #expect(Damage(.seconds(of: "it"), missing: .nan, of: .infinity).what.hasSuffix("s of it"))
    }
}
