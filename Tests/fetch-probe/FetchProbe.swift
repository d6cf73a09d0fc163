@main enum FetchProbe {
    static func main() {}
}
