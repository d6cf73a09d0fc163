import Confinement

Confinement.run(MediaCodec(), arguments: CommandLine.arguments.dropFirst().map(\.self))
