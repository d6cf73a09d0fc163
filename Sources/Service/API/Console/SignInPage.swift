import HTTPTypes

/// Where one signs in: with an API key, or by a link of the command line.
struct SignInPage: Sendable {
    /// Which page is wanted.
    var to: String?
    var alert: String?
    var note: ConsoleNote?

    static let badKey = "That API key is not valid. Check that you copied all of it, or create a new one."
    static let staleCode =
        "This link was already used or is older than five minutes. Create a new one with: satchel console"

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
                <p class="faint">On the machine where Satchel runs, you can also use <code>satchel console</code>. It prints a link that \
                signs you in without a key.</p>
                </div>
                """,
            refreshes: false, status: alert == nil ? .ok : .forbidden)
    }
}
