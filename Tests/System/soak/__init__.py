"""The soak: one service under mixed work for as long as an operator leaves it alone, while one thing after the other breaks.

    Tests/System/soak.sh [--minutes 45] [--seed 1] [--plot FILE] SATCHEL

`work` is what clients ask for and note, `faults` is what breaks, `samples` is what the service holds meanwhile, `world` brings all of
it together, and `judge` decides from what was noted alone: whether all is flat, and whether everything that was accepted ended once.
"""
