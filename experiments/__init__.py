"""Real PyTorch processes and the records of what they found."""
