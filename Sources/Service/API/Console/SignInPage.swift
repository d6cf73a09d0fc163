import HTTPTypes

/// Where one signs in: with an API key, or by a link of the command line.
struct SignInPage: Sendable {
    /// Which page is wanted.
    var to: String?
    var alert: String?
    var note: ConsoleNote?

    init(to: String? = nil, alert: String? = nil, note: ConsoleNote? = nil) {
        self.to = to
        self.alert = alert
        self.note = note
    }

    static let badKey = "This is no API key that is good now. Check that it is whole, or make a new one."
    static let staleCode = "This link was used already, or is older than five minutes. Make another: satchel console"

    var content: ConsoleContent {
        let said: HTMLText =
            alert.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" }
            ?? note.map { "<p class=\"note\">\($0.rawValue)</p>" } ?? ""
        let wanted: HTMLText = to.map { "<input type=\"hidden\" name=\"to\" value=\"\($0)\">" } ?? ""
        return ConsoleContent(
            title: "Sign in",
            html: """
                <div class="sign-in">
                <h1>Sign in</h1>
                \(said)
                <form method="post" action="/console/sign-in">
                \(wanted)
                <input type="text" name="user" value="satchel" autocomplete="username" hidden>
                <label for="key">API key</label>
                <input id="key" name="key" type="password" autocomplete="current-password" required spellcheck="false" \
                autocapitalize="none" placeholder="satk_…">
                <button class="main">Sign in</button>
                </form>
                <p class="faint">Or, on the machine where Satchel runs, <code>satchel console</code> prints a link that \
                signs in without a key.</p>
                </div>
                """,
            refreshes: false, status: alert == nil ? .ok : .forbidden)
    }
}
