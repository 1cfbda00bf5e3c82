"""Results for people: plain text, Markdown, HTML pages and pictures."""
