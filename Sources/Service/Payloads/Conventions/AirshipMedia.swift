import SatchelCore

/// Airship's object: `url` (a string or an array) or `urls` (objects of `url` and `url_id`), `options` for all of them,
/// and `thumbnail_id`, the one medium that shows its thumbnail. `content` is text that stays whatever happens.
struct AirshipMedia {
    /// Every medium in the object.
    let uses: [MediumUse]

    init(at path: JSONDocument.Path, in document: JSONDocument) {
        let value = document[path]
        let thumbnail = value["thumbnail_id"]?.text
        let options = Self.options(value["options"])
        let thumbnailPlaces = document.places(of: "thumbnail_id", in: path)
        var uses: [MediumUse] = []
        func add(_ urlPath: JSONDocument.Path, removing path: JSONDocument.Path, _ identifier: String?) {
            guard let url = MediumUse.url(document[urlPath]) else { return }
            var use = MediumUse(path: path, urlPath: urlPath, url: url, identifier: identifier ?? "url")
            use.options = options
            if let thumbnail, identifier != thumbnail { use.options.thumbnailHidden = true }
            if let thumbnail, identifier == thumbnail { use.companions = thumbnailPlaces }
            uses.append(use)
        }
        for place in document.places(of: "url", in: path) {
            if case .array(let array) = document[place] {
                for index in array.elements.indices { add(place + [index], removing: place + [index], nil) }
            } else {
                add(place, removing: place, nil)
            }
        }
        for place in document.places(of: "urls", in: path) {
            guard case .array(let array) = document[place] else { continue }
            for (index, element) in array.elements.enumerated() {
                let entry = place + [index]
                for url in document.places(of: "url", in: entry) {
                    add(url, removing: entry, element.value["url_id"]?.text)
                }
            }
        }
        let group = MediumUse.Group(
            path: path, size: uses.count, companions: document.places(of: "options", in: path) + thumbnailPlaces)
        self.uses = uses.map { use in
            var use = use
            use.group = group
            return use
        }
    }

    private static func options(_ value: JSONValue?) -> DisplayOptions {
        var options = DisplayOptions()
        options.thumbnailHidden = value?["hidden"]?.boolean ?? false
        if let time = value?["time"]?.number, time.isFinite, time >= 0 { options.thumbnailTime = time }
        if let crop = value?["crop"], let x = crop["x"]?.number, let y = crop["y"]?.number,
            let width = crop["width"]?.number, let height = crop["height"]?.number
        {
            let rect = UnitRect(x: x, y: y, width: width, height: height)
            if rect.isValid { options.thumbnailClippingRect = rect }
        }
        return options
    }
}
