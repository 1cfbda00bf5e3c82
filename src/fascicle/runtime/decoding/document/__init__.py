"""What a whole document says of its mentions: edges in order, thresholds by type, names marked throughout."""
