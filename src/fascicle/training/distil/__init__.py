"""Small networks that learn what large ones compute."""
