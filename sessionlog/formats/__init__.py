"""One file a format; the table below is all that has to know them.

Adding an agent is adding one file that answers `base.Format`, and one line here.
"""
