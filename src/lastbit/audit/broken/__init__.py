"""Mechanisms that do not keep their word, each with the instance that convicts it."""
