"""The `lastbit` command."""
