"""Every setting, in frozen dataclasses, and the strict TOML reader."""
