import SatchelCore
import FoundationEssentials

/// Every message of a conversation, written, read and obeyed once before any process is forked.
///
/// What Swift looks up when it first codes a type (conformances, generic types) every fork would otherwise look up for
/// itself: 3 ms of 9 for a small picture.
enum Prewarming {
    static func run() {
        let rect = UnitRect(x: 0, y: 0, width: 1, height: 1)
        let crops = [Crop.rect(rect), .focalPoint(x: 0, y: 0), .attention]
        for (index, profile) in Profile.builtIn.enumerated() {
            let request = RenditionRequest(
                trim: TrimRequest(start: 0, duration: 1), crop: crops[index % crops.count], thumbnailTime: 0,
                thumbnailFrame: 0, thumbnailClippingRect: rect)
            exercise(ServiceMessage.order(WorkOrder(profile: profile, request: request)))
        }
        var orders = Orders()
        for _ in 0..<2 {
            _ = (try? JSON.encode(ServiceMessage.order(WorkOrder(profile: .notification)))).map { orders.read($0) }
        }
        exercise(ServiceMessage.proceed(RenderCommand(memory: 0, outputs: RenditionRole.allCases)))
        var outputs = Outputs(numbers: [-1])
        _ = outputs.name([.main]) && outputs.close(.main)
        exercise(ServiceMessage.stop)

        let size = PixelSize(width: 1, height: 1)
        exercise(
            CodecMessage.probeResult(
                ProbeResult(
                    kind: .video, type: .mp4, sniffedType: "", size: size, frames: 1, duration: 0.5, note: "",
                    diagnosis: Diagnosis(tracks: [Diagnosis.Track(.video, coding: "")]),
                    planned: RenditionRole.allCases, estimate: Estimate(memory: 0, cpuSeconds: 0.5))))
        exercise(
            CodecMessage.rendition(
                RenditionReport(
                    role: .main, type: .mp4, size: size, duration: 0.5, bytes: 0, seconds: 0.5, note: "",
                    haste: Finding(.pace, .main, missing: 0.5, of: 0.5),
                    tracks: [DeliveredTrack(.video, packets: 1, end: 0.5)])))
        exercise(
            CodecMessage.finished(
                Ending(
                    trim: TrimReport(start: 0, duration: 0.5, sourceDuration: 0.5, method: .copy),
                    placeholder: Placeholder(thumbhash: "", blurhash: "", color: "", peaks: [0]),
                    thumbnailClippingRect: rect, thumbnailTime: 0.5, warnings: [""],
                    diagnosis: Diagnosis(checked: .decoded, losses: [Finding(.timeUp, .main, named: "", by: "")]))))
        exercise(CodecMessage.failed(.unreadable(Finding(.timeUp))))
    }

    /// Prewarming can't fail: what goes wrong here goes wrong again where it matters.
    private static func exercise(_ message: some Codable) {
        func read<Message: Decodable>(_ type: Message.Type, _ bytes: Data) { _ = try? JSON.decode(type, from: bytes) }
        guard let bytes = try? JSON.encode(message) else { return }
        read(type(of: message), bytes)
    }
}
