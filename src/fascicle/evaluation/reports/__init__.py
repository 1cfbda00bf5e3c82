"""Results for people: plain text, Markdown, HTML pages and pictures.

Scores on a terminal are in ``table.py``. The file of a report is written by ``markdown.py`` or by
``page/``.
"""
