"""Clients of a service: requests, retries and decoded responses."""
