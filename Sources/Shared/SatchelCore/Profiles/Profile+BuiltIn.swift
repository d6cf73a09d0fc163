extension Profile {
    /// The profiles that are always there; a profiles file can add to them and replace them by name.
    public static let builtIn: [Profile] = [.notification, .message, .avatar, .archive]

    /// What a push notification can show: types, caps and pixel sizes that iOS accepts within an extension's 24 MB.
    ///
    /// Caps are UNNotificationAttachment's documented ones in decimal megabytes; sides and aims follow what the push
    /// providers advise.
    public static let notification = Profile(
        name: "notification",
        summary: "What iOS accepts in a notification: small, under its caps, clips trimmed from their start.",
        deadline: 30,
        retention: 7 * 86_400,
        thumbnail: ThumbnailPolicy(),
        image: ImagePolicy(types: [.jpeg, .png], longestSide: 1038, aim: 500_000, cap: 10_000_000),
        animation: AnimationPolicy(type: .gif, longestSide: 480, aim: 2_000_000, cap: 10_000_000),
        video: VideoPolicy(longestSide: 1280, aim: 5_000_000, cap: 50_000_000, maximumDuration: 10, whenLonger: .trim),
        audio: AudioPolicy(
            types: [.m4a, .mp3, .wav], aim: 500_000, cap: 5_000_000, maximumDuration: 30, whenLonger: .trim,
            bitRate: 96_000)
    )

    /// A chat message: larger, WebP allowed, nothing trimmed unless asked.
    public static let message = Profile(
        name: "message",
        summary: "For a chat: 1600 pixels, WebP allowed, never trimmed unless asked; at most 10 minutes.",
        deadline: 300,
        thumbnail: ThumbnailPolicy(),
        image: ImagePolicy(types: [.jpeg, .webp, .png], longestSide: 1600, aim: 1_500_000, cap: 20_000_000),
        animation: AnimationPolicy(type: .gif, longestSide: 640, aim: 5_000_000, cap: 20_000_000),
        video: VideoPolicy(
            longestSide: 1920, aim: 50_000_000, cap: 200_000_000, maximumDuration: 600, whenLonger: .refuse),
        audio: AudioPolicy(aim: 10_000_000, cap: 50_000_000, maximumDuration: 600, whenLonger: .refuse)
    )

    /// A face or a logo: square, still, cropped where the most salient part is.
    public static let avatar = Profile(
        name: "avatar",
        summary: "A square still of 512 pixels, cropped to what catches the eye.",
        deadline: 10,
        thumbnail: ThumbnailPolicy(side: 128),
        image: ImagePolicy(
            types: [.jpeg, .png], longestSide: 512, fit: .crop, attention: true, aim: 100_000, cap: 1_000_000),
        animation: AnimationPolicy(type: .png, longestSide: 512, aim: 200_000, cap: 2_000_000)
    )

    /// Everything at its original resolution, upright and stripped of metadata, with the source beside it.
    public static let archive = Profile(
        name: "archive",
        summary: "Upright and stripped of metadata at the original resolution, with the source kept beside it.",
        keepsOriginal: true,
        speed: .best,
        thumbnail: ThumbnailPolicy(),
        image: ImagePolicy(types: [.jpeg, .png], cap: 100_000_000, quality: 92, minimumQuality: 80),
        animation: AnimationPolicy(type: .gif, cap: 100_000_000),
        video: VideoPolicy(cap: 4_000_000_000, rateFactor: 20, check: .decode),
        audio: AudioPolicy(cap: 1_000_000_000, bitRate: 192_000)
    )
}
