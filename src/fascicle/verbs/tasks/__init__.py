"""What the toolkit does with files and models: one module for each verb, taking requests, printing nothing."""
