"""Questions to a table: the options that people give, the mechanism that answers, the reading and the report.

The command and the page ask the same questions. Neither of them computes anything itself.
"""
