"""Pure numpy calculators: one file each, the same in CPython, in the page and in a terminal."""
