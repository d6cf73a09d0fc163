extension Options {
    /// What `--help` prints.
    static var help: String {
        """
        bench measures Satchel beside the programs and libraries that people use instead: on one machine, in one run,
        on the same files, in alternation. What it finds is printed as tables, and kept with every round in
        .bench/results.json, with plots beside it.

          make bench                                the parts marked with *, with few rounds: minutes
          make bench-full                           everything, with more inputs and rounds: an hour or two
          bench --only photographs --rounds 10      one part; other parts' results in results.json stay
          bench --full --resume                     what a run of this extent that broke off has not measured yet
          bench --only photographs --corpus ~/Pictures
                                                    on files of your own
          bench --only photographs \\
              --peer 'mine=resize {input} {output} -w {width} -h {height}' \\
              --peer-url 'other=http://127.0.0.1:8888/{width}x{height}/{path}'
                                                    beside programs and services of your own

        Where:
          --programs DIRECTORY   of satchel, satchel-codec and inner-bench (.build/release)
          --directory DIRECTORY  for inputs, virtual environments and results (.bench)
          --samples DIRECTORY    of the sample files (Media)
          --peer-files DIRECTORY of the peers' scripts (Benchmarks/peers)

        What:
          --list                 name all parts
          --only PART[,PART…]    only these; may be repeated
          --full                 more inputs, more rounds, and the parts that take long
          --rounds N             3, or 5 with --full; a figure is the median of the rounds
          --resume               leave out what results.json has for this seed, extent and version

        On what:
          --seed N               of the synthetic inputs; the same seed makes the same files
          --corpus DIRECTORY     sources of your own instead: each part takes what is of its kind

        Beside what (peers that are missing are named, and have no figures):
          --peer NAME=COMMAND    called for each source and size. {input}, {output}, {width} and {height} are put in,
                                 the latter two as the box that the output is to fit
          --peer-url NAME=URL    asked with GET for each source and size. {path} is the source's path, escaped, {name}
                                 its last component, {width} and {height} as above. CPU is measured where {process}
                                 is given: --peer-url 'NAME@1234=http://…' names the process that serves it

        Results:
          --draw                 draw the plots of results.json again
          --publish DIRECTORY    copy the plots into DIRECTORY/plots, and put the tables into DIRECTORY/README.md

        Leave the machine alone meanwhile: CPU barely suffers from others, but wall times mean nothing then. What
        fails, or makes something else than is measured, has no figure but a line that says why. The exit status is 0
        when every part was measured, whether targets are met or not.

        Parts:
        \(Part.all.map { "  " + $0.line }.joined(separator: "\n"))
        """
    }
}
