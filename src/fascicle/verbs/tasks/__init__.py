"""Work of the commands on files and models: one module for each command; they take requests and
print nothing.
"""
