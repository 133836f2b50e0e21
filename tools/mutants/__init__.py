"""Declared mutants: small faults, each with the tests that must notice it. CONTRIBUTING.md says how to add one."""
