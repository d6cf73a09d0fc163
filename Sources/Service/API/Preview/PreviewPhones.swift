import SatchelCore
import Payloads

/// A notification as phones show it: collapsed in three places, and opened.
struct PreviewPhones {
    private let preview: NotificationPreview
    private let direction: PreviewAppearance.Direction
    private let alert: AlertText
    private let category: Category?

    init(preview: NotificationPreview, direction: PreviewAppearance.Direction) {
        self.preview = preview
        self.direction = direction
        alert = preview.alert
        category = preview.category
    }

    var html: HTMLText {
        """
        <section aria-labelledby="opened-heading" class="opened">
        <h2 id="opened-heading">Opened</h2>
        \(opened)
        \(PreviewPage.status)
        </section>
        <section aria-labelledby="collapsed-heading" class="collapsed">
        <h2 id="collapsed-heading">Collapsed</h2>
        <div class="phones">
        \(phone("Banner", "banner", card(lines: .few, actions: bannerActions)))
        \(phone("Lock screen", "locked", card(lines: .many), clock: true))
        \(phone("Lock screen, previews hidden", "locked hidden-previews", hiddenCard, clock: true))
        </div>
        </section>
        """
    }

    // MARK: Collapsed

    private func phone(_ name: String, _ place: String, _ content: HTMLText, clock: Bool = false) -> HTMLText {
        """
        <figure>
        <figcaption>\(name)</figcaption>
        <div class="phone \(place)" dir="\(direction.rawValue)">
        \(clock ? HTMLText("<p class=\"clock\" aria-hidden=\"true\">9:41</p>") : "")
        \(content)
        </div>
        </figure>
        """
    }

    /// How much of the body is seen.
    private enum Lines: String {
        case few, many
    }

    private func card(lines: Lines, actions: HTMLText = "") -> HTMLText {
        """
        <div class="card">
        \(icon)
        <div class="text">
        \(line("title", alert.title ?? Self.app, time: true))
        \(line("subtitle", alert.subtitle))
        \(line("body \(lines.rawValue)", alert.body))
        </div>
        \(thumbnail)
        </div>
        \(actions)
        """
    }

    private var hiddenCard: HTMLText {
        let options = category?.options ?? []
        let title = options.contains(.hiddenPreviewsShowTitle) ? alert.title : nil
        let subtitle = options.contains(.hiddenPreviewsShowSubtitle) ? alert.subtitle : nil
        // One notification: the placeholder may count them.
        let body = (category?.hiddenBody ?? "Notification").replacing("%u", with: "1")
        return """
            <div class="card">
            \(icon)
            <div class="text">
            \(line("title", title ?? Self.app, time: true))
            \(line("subtitle", subtitle))
            \(line("body few", body))
            </div>
            </div>
            """
    }

    private static let app = "The app"

    private var icon: HTMLText { "<span class=\"icon\" aria-hidden=\"true\"></span>" }

    private func line(_ part: String, _ text: String?, time: Bool = false) -> HTMLText {
        guard let text, !text.isEmpty else { return "" }
        let now: HTMLText = time ? "<span class=\"time\">now</span>" : ""
        return "<p class=\"\(part)\"><span dir=\"auto\">\(isolated: text)</span>\(now)</p>"
    }

    /// The picture that a collapsed notification shows, as clipped and at its time.
    private var thumbnail: HTMLText {
        guard let (medium, delivered) = preview.shown.first, !delivered.options.thumbnailHidden else { return "" }
        let roles: [RenditionRole] = [.thumbnail, .poster, .main]
        guard
            let role = roles.first(where: {
                medium.urls[$0] != nil && medium.record?.renditions[$0]?.mediaType.format.picture != nil
            }), let url = medium.urls[role]
        else { return "" }
        return "<img class=\"thumbnail\" src=\"\(url)\" width=\"40\" height=\"40\" alt=\"\">"
    }

    private var bannerActions: HTMLText {
        let actions = (category?.actions ?? []).prefix(NotificationFacts.bannerActions)
        guard !actions.isEmpty else { return "" }
        return "<ul class=\"actions shown\">\(actions.map { HTMLText("<li>\(label(of: $0))</li>\n") })</ul>"
    }

    private func label(of action: CategoryAction) -> HTMLText {
        let look: HTMLText = action.options.contains(.destructive) ? " destructive" : ""
        return "<span class=\"action\(look)\">\(isolated: action.title)</span>"
    }

    // MARK: Opened

    private var opened: HTMLText {
        """
        <div class="phone screen" id="phone" dir="\(direction.rawValue)" tabindex="-1" aria-labelledby="opened-heading">
        <div data-screen="open">
        <article class="notification" aria-labelledby="app-name">
        <h3 class="app" id="app-name">\(icon) <span id="app">\(Self.app)</span> <span class="time">now</span></h3>
        \(category?.extension.map(extended) ?? HTMLText("\(stage)\n\(content(isHidden: false))"))
        </article>
        <ul class="actions" id="actions" aria-label="Actions">
        \((category?.actions ?? []).map(button))</ul>
        \(unlocking)
        \(texting)
        <div class="standing"><button type="button" id="dismiss">Dismiss</button>\
        <button type="button" id="open">Open</button></div>
        </div>
        \(list)
        \(theApp)
        </div>
        """
    }

    /// The box is as large as the category reserves before anything has loaded, and stays so.
    private func extended(_ contentExtension: ContentExtension) -> HTMLText {
        let controls = contentExtension.userInteraction == true ? contentExtension.controls : []
        let controlled: HTMLText =
            controls.isEmpty ? "" : "<div class=\"controls\">\(controls.map(control))</div>"
        return """
            <div class="box" id="box">
            \(stage)
            <p class="label" id="label" hidden></p>
            \(controlled)
            </div>
            \(content(isHidden: contentExtension.defaultContentHidden == true))
            """
    }

    private func content(isHidden: Bool) -> HTMLText {
        """
        <div class="content" id="content"\(isHidden ? HTMLText(" hidden") : "")>
        \(text("title", alert.title))
        \(text("subtitle", alert.subtitle))
        \(text("body", alert.body))
        \(category?.extension == nil ? HTMLText("<p class=\"label\" id=\"label\" hidden></p>") : "")
        </div>
        """
    }

    private func text(_ part: String, _ text: String?) -> HTMLText {
        "<p class=\"\(part)\" data-text=\"\(part)\"\(text == nil ? HTMLText(" hidden") : "")><bdi>\(text ?? "")</bdi></p>"
    }

    private var stage: HTMLText {
        let media = preview.shown
        guard !media.isEmpty else { return "<div class=\"stage empty\" id=\"stage\"></div>" }
        let elements = media.enumerated().map { index, shown -> HTMLText in
            let isHidden: HTMLText = index == 0 ? "" : " hidden"
            let identifier = shown.medium.identifier
            return """
                <div class="medium" data-attachment="\(identifier)"\(isHidden)>
                \(element(shown.medium, shown.delivered))
                </div>

                """
        }
        return "<div class=\"stage\" id=\"stage\">\n\(elements)</div>"
    }

    private func element(_ medium: EnrichedMedium, _ delivered: DeliveredMedium) -> HTMLText {
        let name = medium.identifier
        let size: HTMLText =
            delivered.width.flatMap { width in
                delivered.height.map { " width=\"\(width)\" height=\"\($0)\"" }
            } ?? ""
        let still = [RenditionRole.poster, .thumbnail].lazy.compactMap { medium.urls[$0] }.first
        switch delivered.type.rawValue.prefix(while: { $0 != "/" }) {
        case "audio":
            let picture: HTMLText =
                medium.urls[.waveform].map { "<img src=\"\($0)\" alt=\"\">" } ?? ""
            return "\(picture)<audio controls preload=\"none\" src=\"\(delivered.url)\" aria-label=\"\(name)\"></audio>"
        case "video":
            let poster: HTMLText = still.map { " poster=\"\($0)\"" } ?? ""
            return """
                <video controls playsinline preload="metadata" src="\(delivered.url)"\(poster)\(size) aria-label="\(name)">\
                </video>
                """
        default:
            let picture: HTMLText = "<img src=\"\(delivered.url)\"\(size) alt=\"\(name)\">"
            guard medium.record?.kind == .animation, let still else { return picture }
            // For who wants no motion it begins when it is asked to.
            return """
                <picture><source srcset="\(still)" media="(prefers-reduced-motion: reduce)">\(picture)</picture>
                <button type="button" class="play" data-play>Play</button>
                """
        }
    }

    private func control(_ control: ContentControl) -> HTMLText {
        switch control {
        case .button(let title, let effect):
            return "<button type=\"button\" data-does=\"\(effect.rawValue)\">\(isolated: title)</button>\n"
        case .slider(let title, let target, let minimum, let maximum, let value):
            return """
                <label class="slider"><span>\(isolated: title)</span> <input type="range" data-sets="\(target.rawValue)" \
                min="\(minimum)" max="\(maximum)" step="\((maximum - minimum) / 100)" value="\(value)"></label>

                """
        }
    }

    private func button(_ action: CategoryAction) -> HTMLText {
        "<li><button type=\"button\" data-action=\"\(action.id)\">\(label(of: action))</button></li>\n"
    }

    private var unlocking: HTMLText {
        """
        <div class="asking" id="unlocking" role="group" aria-labelledby="unlocking-text" hidden>
        <p id="unlocking-text">This action needs the device to be unlocked.</p>
        <button type="button" id="unlock">Unlock</button> <button type="button" data-cancel>Cancel</button>
        </div>
        """
    }

    private var texting: HTMLText {
        """
        <form class="asking" id="texting" hidden>
        <label for="text" id="text-label"></label>
        <input type="text" id="text" autocomplete="off" maxlength="\(ResponseLimits.text)">
        <button type="submit" id="send"></button> <button type="button" data-cancel>Cancel</button>
        </form>
        """
    }

    /// Where the notification is when it isn't open.
    private var list: HTMLText {
        """
        <div data-screen="list" hidden>
        <h3>Notification Center</h3>
        <ul id="list" aria-label="Notifications"><li>\(card(lines: .many))</li></ul>
        <p id="none" hidden>No notifications.</p>
        <button type="button" id="again">Open the notification</button>
        </div>
        """
    }

    private var theApp: HTMLText {
        """
        <div data-screen="app" hidden>
        <h3>The app</h3>
        <p>The app is open. It would receive this:</p>
        <pre id="told"></pre>
        <button type="button" id="back">Back</button>
        </div>
        """
    }
}
