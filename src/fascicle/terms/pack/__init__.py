"""Term packs: vocabularies as one immutable folder of flat arrays, which all processes map and
share.
"""
