"""The build: from content and calculators to a folder of static files."""
