/// Decides who comes next where many parties share a line: start-time fair queueing.
///
/// A line gives out the least rank first, and among equals whoever came first. So what one party has in the line stands
/// behind itself, each piece further back, and a newcomer stands where the line has got to: it waits for a free place, not
/// for the rest of somebody else's flood. (Goyal, Vin and Cheng, "Start-time Fair Queuing", 1996, with the start tags
/// alone.)
public enum FairRank {
    /// The rank of something that joins a line.
    ///
    /// - Parameters:
    ///   - reached: The greatest rank that the line has ever given out; 0 at first.
    ///   - last: The greatest rank among what its party has there and isn't finished; nil where there is nothing.
    ///   - size: How much work it is.
    public static func rank(reached: Int64, last: Int64?, size: Int) -> Int64 {
        guard let last else { return reached }
        return max(reached, last + Int64(size))
    }
}

/// What of a width is kept for whoever waits for an answer.
public enum ReservedPlaces {
    /// How many of `width` places work of bulk priority may have: a quarter, rounded up, is kept from it. A single place
    /// is for everybody.
    public static func bulk(of width: Int) -> Int {
        max(1, width - (width + 3) / 4)
    }
}
