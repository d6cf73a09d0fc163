import SatchelCore
import HTTPTypes
import Hummingbird
import NIOCore
import Payloads

/// `/docs`: the API's description as one page that needs nothing else.
struct DocumentationPage: Sendable {
    static let current = DocumentationPage(document: .current).html.description

    let document: OpenAPIDocument

    var html: HTMLText {
        let info = document.root["info"]
        let title = info?["title"]?.text ?? ""
        let style = HTMLText(stringLiteral: DocumentationStyle.css)
        let paragraphs = (info?["description"]?.text ?? "").split(separator: "\n\n").map { paragraph -> HTMLText in
            "<p>\(prose: String(paragraph))</p>"
        }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title) API</title>
            <style>\(style)</style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            <p class="faint">Version \(info?["version"]?.text ?? "") · <a href="/openapi.json">openapi.json</a></p>
            \(paragraphs)
            <form role="search" hidden>
            <label for="search">Search calls, codes and fields</label>
            <input type="search" id="search" autocomplete="off" spellcheck="false">
            <span id="found" class="faint" role="status"></span>
            </form>
            </header>
            <nav aria-label="Contents">
            <h2>Guides</h2>
            <ul>
            \(Guide.all.map { guide -> HTMLText in "<li><a href=\"#\(guide.anchor)\">\(guide.title)</a></li>\n" })</ul>
            \(tags.map(contents))
            <p><a href="#errors">Errors</a> · <a href="#values">Types</a></p>
            </nav>
            <main id="main">
            <h2>Guides</h2>
            \(Guide.all.map(section))
            \(security)
            \(tags.map(section))
            \(errors)
            \(values)
            </main>
            <script type="module" src="\(Asset.documentationScript.path)"></script>
            </body>
            </html>

            """
    }

    private func section(_ guide: Guide) -> HTMLText {
        let parts = guide.parts.map { part -> HTMLText in
            switch part {
            case .prose(let text): "<p>\(prose: text)</p>\n"
            case .program(let example):
                """
                <h4><code>\(example.name)</code></h4>
                <pre tabindex="0">\(example.command)</pre>
                <pre tabindex="0">\(example.text)</pre>

                """
            }
        }
        return """
            <section class="call" id="\(guide.anchor)">
            <h3>\(guide.title)</h3>
            \(parts)</section>

            """
    }

    private struct Tag {
        var name: String
        var summary: String
        var operations: [OpenAPIDocument.Operation]
    }

    private var tags: [Tag] {
        let operations = document.operations
        return (document.root["tags"]?.elements ?? []).map { tag in
            let name = tag["name"]?.text ?? ""
            return Tag(
                name: name, summary: tag["description"]?.text ?? "",
                operations: operations.filter { $0.value["tags"]?.elements.first?.text == name })
        }
    }

    private func contents(_ tag: Tag) -> HTMLText {
        let calls = tag.operations.map { call -> HTMLText in
            """
            <li><a href="#\(anchor(call))"><code><span class="method \(call.method)">\(call.method)</span> \
            \(call.path)</code></a> <span class="faint">\(call.value["summary"]?.text ?? "")</span></li>

            """
        }
        return "<h2>\(tag.name)</h2>\n<ul>\n\(calls)</ul>\n"
    }

    private var security: HTMLText {
        let rows = (document.root["components"]?["securitySchemes"]?.members ?? []).map { scheme -> HTMLText in
            "<tr><td>\(Self.schemeNames[scheme.key] ?? scheme.key)</td><td>\(prose: scheme.value["description"]?.text ?? "")</td></tr>\n"
        }
        return """
            <h2>Credentials</h2>
            <p>Send them as <code>Authorization: Bearer …</code>.</p>
            <table>
            \(rows)</table>
            """
    }

    private static let schemeNames = ["apiKey": "API key", "grant": "Grant"]

    private func section(_ tag: Tag) -> HTMLText {
        "<h2>\(tag.name)</h2>\n<p>\(prose: tag.summary)</p>\n\(tag.operations.map(call))"
    }

    private func anchor(_ call: OpenAPIDocument.Operation) -> String {
        call.value["operationId"]?.text ?? call.method + call.path
    }

    // MARK: A call

    private func call(_ call: OpenAPIDocument.Operation) -> HTMLText {
        let description = call.value["description"]?.text.map { text -> HTMLText in "<p>\(prose: text)</p>" } ?? ""
        return """
            <section class="call" id="\(anchor(call))">
            <h3><code><span class="method \(call.method)">\(call.method)</span> \(call.path)</code></h3>
            <p>\(prose: sentence(call.value["summary"]?.text ?? "")) <span class="faint">\(prose: access(call))</span></p>
            \(description)
            \(parameters(call))
            \(body(call))
            \(mediaPlaces(call))
            <h4>Example</h4>
            \(CommandExample.examples(of: call, in: document).map { example -> HTMLText in "<pre tabindex=\"0\">\(example)</pre>\n" })
            \(answers(call))
            </section>

            """
    }

    private func sentence(_ text: String) -> String {
        text.hasSuffix("?") ? text : text + "."
    }

    private func access(_ call: OpenAPIDocument.Operation) -> String {
        let schemes = (call.value["security"]?.elements ?? []).flatMap(\.members)
        let roles = schemes.flatMap { $0.value.elements.compactMap(\.text) }.map { "`\($0)`" }
        var choices = roles.isEmpty ? [] : ["an API key with the role \(roles.joined(separator: " or "))"]
        if schemes.contains(where: { $0.key == "grant" }) { choices.append("a grant") }
        return choices.isEmpty ? "Requires no credentials." : "Requires \(choices.joined(separator: " or "))."
    }

    private func parameters(_ call: OpenAPIDocument.Operation) -> HTMLText {
        let rows = (call.value["parameters"]?.elements ?? []).map(document.resolved).map { parameter -> HTMLText in
            let schema = parameter["schema"] ?? .null
            return """
                <tr><td><code>\(parameter["name"]?.text ?? "")</code></td>\
                <td class="faint">\(Self.places[parameter["in"]?.text ?? ""] ?? "")</td>\
                <td class="faint">\(type(schema))</td>\
                <td>\(prose: parameter["description"]?.text ?? "")\(bounds(schema))</td></tr>

                """
        }
        guard !rows.isEmpty else { return "" }
        return "<h4>Parameters</h4>\n<table>\n\(rows)</table>"
    }

    private static let places = ["path": "in the path", "query": "in the query", "header": "header"]

    private func body(_ call: OpenAPIDocument.Operation) -> HTMLText {
        guard let body = call.value["requestBody"] else { return "" }
        let rows = (body["content"]?.members ?? []).map { content -> HTMLText in
            "<tr><td><code>\(content.key)</code></td><td>\(content.value["schema"].map(type) ?? "bytes")</td></tr>\n"
        }
        let description = body["description"]?.text.map { text -> HTMLText in "<p>\(prose: text)</p>" } ?? ""
        return "<h4>Body</h4>\n\(description)\n<table>\n\(rows)</table>"
    }

    private func mediaPlaces(_ call: OpenAPIDocument.Operation) -> HTMLText {
        guard let format = PayloadFormat.allCases.first(where: { Endpoint.enrichPayload($0).path == call.path }) else {
            return ""
        }
        let places = format.mediaPlaces.map { HTMLText("<li><code>\($0.description)</code></li>\n") }
        return "<h4>Places of media</h4>\n<p>In each message, as JSON pointers:</p>\n<ul>\n\(places)</ul>"
    }

    private func answers(_ call: OpenAPIDocument.Operation) -> HTMLText {
        let responses = call.value["responses"]?.members ?? []
        let rows = responses.map { response -> HTMLText in
            let value = document.resolved(response.value)
            let headers = (value["headers"]?.members ?? []).map { header -> HTMLText in
                " <code>\(header.key)</code>"
            }
            let contents = (value["content"]?.members ?? []).map { content -> HTMLText in
                let codes = (value["x-codes"]?.elements ?? []).compactMap(\.text)
                if codes.isEmpty {
                    let schema = content.value["x-item-schema"] ?? content.value["schema"]
                    return "<code>\(content.key)</code> \(schema.map(type) ?? "bytes") "
                }
                return HTMLText(
                    stringLiteral: codes.map { "<a href=\"#error-\($0)\"><code>\($0)</code></a>" }
                        .joined(separator: ", "))
            }
            return """
                <tr><td>\(response.key)</td><td>\(prose: value["description"]?.text ?? "") \
                <span class="faint">\(contents)\(headers.isEmpty ? "" : " with")\(headers)</span></td></tr>

                """
        }
        let examples = responses.flatMap { response in
            (document.resolved(response.value)["content"]?.members ?? []).compactMap { content -> HTMLText? in
                guard response.key.hasPrefix("2"), let example = CommandExample.value(of: content.value, in: document)
                else { return nil }
                let text = example.text ?? example.laidOut()
                return "<details><summary>\(response.key)</summary><pre tabindex=\"0\">\(text)</pre></details>\n"
            }
        }
        return "<h4>Answers</h4>\n<table>\n\(rows)</table>\n\(examples)"
    }

    // MARK: Errors and values

    private var errors: HTMLText {
        let rows = (document.root["x-errors"]?.elements ?? []).map { error -> HTMLText in
            let code = error["code"]?.text ?? ""
            let statuses = (error["statuses"]?.elements ?? []).map { $0.laidOut() }.joined(separator: ", ")
            var unError = error["un_error"]?.laidOut() ?? "null"
            if unError == "null" { unError = "–" }
            return """
                <tr id="error-\(code)"><td><code>\(code)</code></td><td data-label="Status">\(statuses)</td>\
                <td>\(prose: error["meaning"]?.text ?? "")</td><td>\(prose: error["action"]?.text ?? "")</td>\
                <td data-label="UNError">\(unError)</td>\
                <td data-label="Retried">\(error["retried"]?.text ?? "")</td></tr>

                """
        }
        return """
            <h2 id="errors">Errors</h2>
            <p>If an attachment fails, its <code>error</code> has the code, and reading the job still returns 200. If a call
            fails, its problem document has the code, and the second column lists the HTTP status. UNError is the
            matching code of Apple's UserNotifications. The last column says who should retry: you, the service, or
            neither.</p>
            <table>
            <thead><tr><th>Code</th><th>Status</th><th>Meaning</th><th>What to do</th><th>UNError</th><th>Retried</th></tr></thead>
            \(rows)</table>
            """
    }

    private var values: HTMLText {
        let schemas = (document.root["components"]?["schemas"]?.members ?? []).map { schema -> HTMLText in
            let required = Set((schema.value["required"]?.elements ?? []).compactMap(\.text))
            let isRequest = schema.value["additionalProperties"]?.boolean == false
            let rows = (schema.value["properties"]?.members ?? []).map { property -> HTMLText in
                let isOptional = isRequest && !required.contains(property.key)
                return """
                    <tr><td><code>\(property.key)</code></td><td class="faint">\(type(property.value))\
                    \(isOptional ? ", optional" : "")</td>\
                    <td>\(prose: property.value["description"]?.text ?? "")\(bounds(property.value))</td></tr>

                    """
            }
            let table: HTMLText =
                rows.isEmpty ? "<p class=\"faint\">\(type(schema.value))</p>" : "<table>\n\(rows)</table>"
            return """
                <section id="value-\(schema.key)">
                <h3>\(schema.key)</h3>
                <p>\(prose: schema.value["description"]?.text ?? "")</p>
                \(table)
                </section>

                """
        }
        return "<h2 id=\"values\">Types</h2>\n\(schemas)"
    }

    /// A schema in a few words.
    private func type(_ schema: JSONValue) -> HTMLText {
        if let reference = schema["$ref"]?.text, let name = reference.split(separator: "/").last.map(String.init) {
            return "<a href=\"#value-\(name)\">\(name)</a>"
        }
        let choices = schema["anyOf"]?.elements ?? schema["oneOf"]?.elements ?? []
        if !choices.isEmpty { return joined(choices.map(type), " or ") }
        if let values = schema["enum"]?.elements {
            return joined(values.map { "<code>\($0.text ?? $0.laidOut())</code>" }, ", ")
        }
        let names = schema["type"]?.text.map { [$0] } ?? (schema["type"]?.elements ?? []).compactMap(\.text)
        return joined(
            names.map { name in
                switch name {
                case "array": "array of \(type(schema["items"] ?? .null))"
                case "object" where schema["additionalProperties"]?.members.isEmpty == false:
                    "object of \(type(schema["additionalProperties"] ?? .null))"
                case "object" where schema["properties"] != nil:
                    """
                    object of \(joined((schema["properties"]?.members ?? []).map { property in
                        "<code>\(property.key)</code> (\(type(property.value)))"
                    }, ", "))
                    """
                case "string" where schema["format"]?.text == "date-time": "time"
                case "string" where schema["format"]?.text == "uri": "URL"
                case "string" where schema["format"]?.text == "binary": "bytes"
                default: "\(name)"
                }
            }, " or ")
    }

    private func joined(_ parts: [HTMLText], _ separator: String) -> HTMLText {
        HTMLText(stringLiteral: parts.map(\.description).joined(separator: separator))
    }

    private func bounds(_ schema: JSONValue) -> HTMLText {
        let facts = [
            ("minimum", "at least"), ("exclusiveMinimum", "more than"), ("maximum", "at most"),
            ("minItems", "minimum items"), ("maxItems", "maximum items"),
            ("maxLength", "maximum characters"), ("default", "default"),
        ].compactMap { key, words in schema[key].map { "\(words) \($0.text ?? $0.laidOut())" } }
        guard !facts.isEmpty else { return "" }
        return " <span class=\"faint\">(\(facts.joined(separator: ", ")))</span>"
    }
}

/// The API's own description.
struct DescriptionRoutes: Sendable {
    let service: Service

    /// The document, which stays in memory after the first request.
    private static let document = ByteBuffer(bytes: OpenAPIDocument.bytes)

    func add(to table: RouteTable) {
        table.on(.description) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-cache"],
                body: ResponseBody(byteBuffer: Self.document))
        }
        table.on(.documentation) { _, _ in
            let headers: HTTPFields = [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-cache",
                .contentSecurityPolicy: DocumentationStyle.contentSecurityPolicy,
                .xContentTypeOptions: "nosniff", "Referrer-Policy": "no-referrer",
            ]
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(string: DocumentationPage.current)))
        }
    }
}
