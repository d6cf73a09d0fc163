"""The history test: nodes that share a database and a bucket, clients that note what they were told, and what breaks meanwhile.

    Tests/System/history.sh [--seconds S] SATCHEL SEED...

`cluster` brings all of it up, `clients` use it, `nemesis` breaks it, `history` is what they note, and `checker` judges that
alone. What is random follows from the seed; how the machine interleaves it doesn't.
"""
