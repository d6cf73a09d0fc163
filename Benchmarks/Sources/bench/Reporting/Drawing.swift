extension Plot {
    /// The drawing, as a file's text.
    var svg: String {
        switch form {
        case .bars(let bars, let axis): drawn(bars, axis)
        case .lines(let series, let x, let y): drawn(series, x, y)
        }
    }

    // MARK: Bars

    /// One beneath the other, each with its label and its value; a thin line is the spread.
    private func drawn(_ bars: [Bar], _ axis: Axis) -> String {
        let (row, top, left, right, width) = (26.0, 44.0, 280.0, 80.0, 800.0)
        let bottom = top + Double(bars.count) * row
        var drawing = SVG(width: width, height: bottom + 52)
        let scale = Scale(bars.flatMap { [$0.value, $0.most] }, isLogarithmic: axis.isLogarithmic)
        func x(_ value: Double) -> Double { left + scale.place(value) * (width - left - right) }
        drawing.text(title, x: 12, y: 22, size: 15, isBold: true)
        for mark in scale.marks {
            drawing.line((x(mark), top), (x(mark), bottom), colour: SVG.faint)
            drawing.text(Scale.label(mark), x: x(mark), y: bottom + 16, anchor: .middle, size: 11)
        }
        for (index, bar) in bars.enumerated() {
            let y = top + Double(index) * row
            drawing.text(bar.label, x: left - 8, y: y + 17, anchor: .end, isBold: bar.role == .own)
            drawing.rectangle(
                x: left, y: y + 4, width: x(bar.value) - left, height: row - 8, colour: SVG.colour(of: bar.role))
            if bar.most > bar.least {
                drawing.line((x(bar.least), y + row / 2), (x(bar.most), y + row / 2), width: 1.5)
            }
            drawing.text(Scale.label(bar.value), x: max(x(bar.value), x(bar.most)) + 6, y: y + 17, isBold: true)
        }
        drawing.line((left, top), (left, bottom))
        drawing.text(axis.label, x: (left + width - right) / 2, y: bottom + 38, anchor: .middle)
        return drawing.content
    }

    // MARK: Lines

    private func drawn(_ series: [Series], _ xAxis: Axis, _ yAxis: Axis) -> String {
        let (width, top, left, right, plotHeight) = (800.0, 44.0, 80.0, 24.0, 320.0)
        let bottom = top + plotHeight
        let legend = Double((series.count + 1) / 2) * 20
        var drawing = SVG(width: width, height: bottom + 56 + legend)
        let points = series.flatMap(\.points)
        let across = Scale(points.map(\.x), isLogarithmic: xAxis.isLogarithmic)
        let up = Scale(points.map(\.y), isLogarithmic: yAxis.isLogarithmic)
        func x(_ value: Double) -> Double { left + across.place(value) * (width - left - right) }
        func y(_ value: Double) -> Double { bottom - up.place(value) * plotHeight }
        drawing.text(title, x: 12, y: 22, size: 15, isBold: true)
        for mark in up.marks {
            drawing.line((left, y(mark)), (width - right, y(mark)), colour: SVG.faint)
            drawing.text(Scale.label(mark), x: left - 6, y: y(mark) + 4, anchor: .end, size: 11)
        }
        for mark in across.marks {
            drawing.line((x(mark), bottom), (x(mark), bottom + 4))
            drawing.text(Scale.label(mark), x: x(mark), y: bottom + 18, anchor: .middle, size: 11)
        }
        drawing.line((left, top), (left, bottom))
        drawing.line((left, bottom), (width - right, bottom))
        drawing.text(xAxis.label, x: (left + width - right) / 2, y: bottom + 38, anchor: .middle)
        drawing.text(yAxis.label, x: 20, y: (top + bottom) / 2, anchor: .middle, turned: true)
        for (index, one) in series.enumerated() {
            let colour = SVG.series[index % SVG.series.count]
            drawing.path(one.points.sorted { $0.x < $1.x }.map { (x($0.x), y($0.y)) }, colour: colour)
            let place = (left + Double(index % 2) * 340, bottom + 60 + Double(index / 2) * 20)
            drawing.rectangle(x: place.0, y: place.1 - 9, width: 18, height: 4, colour: colour)
            drawing.text(one.label, x: place.0 + 26, y: place.1 - 3, isBold: one.role == .own)
        }
        return drawing.content
    }
}
