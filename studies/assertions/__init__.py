"""Facts of mentions, such as negated, by the rules of Fascicle and by other tools."""
