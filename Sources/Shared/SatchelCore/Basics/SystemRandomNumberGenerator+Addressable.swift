extension SystemRandomNumberGenerator {
    /// The system's generator, for functions of ours that take one.
    ///
    /// In a box: the generator itself is empty, so that Swift passes no address in particular for it, and the thread sanitizer, which is told
    /// of every value that is passed to be changed, looks there and crashes or blames who has that place.
    public static var addressable: any RandomNumberGenerator { SystemRandomNumberGenerator() }
}
