"""How right links are with gold mentions, on corpora whose concepts the pack
``packs/biomed.toml`` mostly has.
"""
