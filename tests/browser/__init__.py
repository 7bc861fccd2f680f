"""What a reader's browser does with the built site."""
