import SatchelCore
import FoundationEssentials

@testable import CodecPool
@testable import Confinement

extension FuzzTarget {
    /// What a codec process says, as the service reads it: by then it may be the sender's, not ours. Whatever is believed can
    /// be written down again.
    static let codecMessages = FuzzTarget("codec-messages") { bytes in
        let packet = Data(bytes)
        _ = try? JSON.decode(ZygoteMessage.self, from: packet)
        guard let message = try? JSON.decode(CodecMessage.self, from: packet) else { return }
        for profile in Profile.builtIn {
            let order = WorkOrder(profile: profile)
            switch message {
            case .probeResult(let result):
                if let checked = try? result.checked(for: order) { written(checked) }
            case .rendition(let report):
                for kind in MediaKind.allCases {
                    let result = ProbeResult(
                        kind: kind, type: .jpeg, sniffedType: "", note: "", planned: [],
                        estimate: Estimate(memory: 0, cpuSeconds: 0))
                    let checked = try? report.checked(for: order, probeResult: result, actual: report.bytes)
                    if let checked { written(checked) }
                }
            case .finished(let ending):
                if let checked = try? ending.checked() { written(checked) }
            case .failed(let error):
                if let checked = try? error.checkedRefusal() {
                    written(checked)
                    precondition(!checked.description.isEmpty)
                }
            case .beyondDecoderSet: break
            }
        }
    }

    private static func written(_ value: some Encodable) {
        guard let bytes = try? JSON.encode(value) else { preconditionFailure("what was believed can't be written") }
        precondition(bytes.allSatisfy { $0 >= 0x20 }, "what was believed holds control characters")
    }

    /// What the service says, as a codec process reads it.
    static let serviceMessages = FuzzTarget("service-messages") { bytes in
        let packet = Data(bytes)
        var orders = Orders()
        let order = orders.read(packet)
        precondition(orders.read(packet) == order, "the same order reads otherwise")
        _ = try? JSON.decode(ZygoteCommand.self, from: packet)
        guard case .proceed(let command) = try? JSON.decode(ServiceMessage.self, from: packet) else { return }
        var outputs = Outputs(numbers: [])
        precondition(outputs.name(command.outputs) == command.outputs.isEmpty)
    }
}
