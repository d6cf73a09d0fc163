import MediaCodec
import StillCodecs

MediaCodec.run(.stills)
