"""Graphs and tables of concepts, made of documents whose mentions have links."""
