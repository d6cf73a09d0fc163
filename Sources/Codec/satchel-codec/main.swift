import ClipCodecs
import MediaCodec
import StillCodecs

MediaCodec.run(.everything)
