"""The story: learn, to a tolerance, from streams and on workers; tune; load."""
