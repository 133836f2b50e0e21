"""The papers' experiments again, on the exact code: `make experiments`, or `python -m experiments NAME` for some.

A module is one table or figure of a paper. It measures rows, draws a picture of rows, and reports on rows in words;
`harness.py` keeps the rows as CSV with what they were measured on, and `page.py` writes the page from those files.
"""
