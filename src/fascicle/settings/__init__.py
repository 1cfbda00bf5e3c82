"""Every setting: what recipes say, and what model folders say of themselves."""
