"""Learning operators made of parts: cells and degrees for a tolerance, and when parts are taken."""
