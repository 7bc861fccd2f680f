"""The editor's server: the book in memory, changes to it, and the pages that show them."""
