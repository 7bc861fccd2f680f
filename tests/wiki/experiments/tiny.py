"""What decides the record of the tiny wiki: its hash is in the record, so a change makes it stale."""

PARTS = (1.0, 2.0)
