import SatchelCore
import Confinement

let arguments = Array(CommandLine.arguments.dropFirst())
Confinement.run(
    FaultCodec(), arguments: arguments,
    withholding: Set(arguments.compactMap { FaultCodec.value(of: "--withhold", in: $0) }.compactMap(SandboxLayer.init)))
