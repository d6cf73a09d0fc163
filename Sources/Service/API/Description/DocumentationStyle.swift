import Crypto
import FoundationEssentials

/// The look of `/docs`, and the policy that lets a browser use nothing else.
enum DocumentationStyle {
    static let css = """
        :root { color-scheme: light dark; --text: #1d1d1f; --faint: #5f6368; --back: #fff; --card: #f5f5f7;
          --line: #d8d8dc; --link: #0550ae; --get: #0550ae; --post: #1a7f37; --put: #8a5a00; --delete: #b42318 }
        @media (prefers-color-scheme: dark) { :root { --text: #e8e8ea; --faint: #a0a0a8; --back: #161618;
          --card: #222226; --line: #3a3a40; --link: #79b8ff; --get: #79b8ff; --post: #6fdd8b; --put: #f0b95a;
          --delete: #ff8f85 } }
        * { box-sizing: border-box }
        html { scroll-padding-top: 1rem }
        body { margin: 0 auto; padding: 1rem; max-width: 60rem; color: var(--text); background: var(--back);
          font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word }
        h1 { font-size: 2rem; margin: 1rem 0 0 }
        h2 { margin: 3rem 0 .5rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line) }
        h3 { font-size: 1.05rem; margin: 0 0 .25rem }
        h4 { font-size: .9rem; margin: 1rem 0 .25rem; color: var(--faint) }
        p { margin: .5rem 0 }
        a { color: var(--link); text-decoration: none }
        a:hover { text-decoration: underline }
        code, pre { font: .85em/1.45 ui-monospace, monospace }
        pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .75rem;
          overflow-x: auto; white-space: pre; overflow-wrap: normal; margin: .5rem 0; max-height: 30rem }
        section.call { border: 1px solid var(--line); border-radius: 8px; padding: 1rem; margin: 1rem 0 }
        section:not(.call) > h3 { margin-top: 1.75rem }
        .method { display: inline-block; min-width: 4.2em; font-weight: 700; font-family: ui-monospace, monospace }
        .GET, .HEAD { color: var(--get) } .POST { color: var(--post) } .PUT { color: var(--put) }
        .DELETE { color: var(--delete) }
        [hidden] { display: none !important }
        form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: baseline; margin: 1rem 0 }
        input { flex: 1 1 12rem; min-width: 0; padding: .4rem .6rem; font: inherit; color: inherit; background: var(--card);
          border: 1px solid var(--faint); border-radius: 6px }
        .copied { position: relative } .copied button { position: absolute; top: .35rem; right: .35rem; padding: .15rem .6rem;
          min-height: 24px; font: .8rem system-ui, sans-serif; color: var(--text); background: var(--back);
          border: 1px solid var(--line); border-radius: 6px; cursor: pointer }
        .faint { color: var(--faint); font-size: .9rem }
        table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .25rem 0 }
        th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
          border-top: 1px solid var(--line) }
        @media (min-width: 40.01rem) { td:first-child:not(:last-child) { white-space: nowrap } }
        th { color: var(--faint); font-weight: 600; border-top: 0 }
        nav h2 { font-size: .9rem; margin: 1rem 0 .25rem; padding: 0; border: 0; color: var(--faint) }
        nav ul { list-style: none; padding: 0; margin: .25rem 0 1rem }
        nav li { padding: .1rem 0 }
        summary { cursor: pointer; color: var(--link); margin: .25rem 0 }
        @media (max-width: 40rem) { table, tbody, tr, td { display: block } thead, tr:has(> th) { display: none }
          tr { border-top: 1px solid var(--line); padding: .4rem 0 } td, td:not(:last-child) { border: 0; padding: .05rem 0;
            overflow-wrap: anywhere }
          td:first-child, td:first-child code { font-weight: 600 } td.faint { display: inline; margin-right: .75em }
          td[data-label]::before { content: attr(data-label) ": "; color: var(--faint) }
          nav li { padding: .25rem 0 } nav .faint { display: block } section.call { padding: .75rem } }
        """

    /// Only this style and the service's own script; no picture, no request.
    static let contentSecurityPolicy: String = {
        let digest = Data(SHA256.hash(data: Data(css.utf8))).base64EncodedString()
        return
            "default-src 'none'; style-src 'sha256-\(digest)'; script-src 'self'; require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }()
}
