"""What of a teacher's labels a student should learn: hard or soft, in BIO or IO."""
