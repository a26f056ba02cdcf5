"""Operators made of parts: traces on faces, local least squares, and how parts are glued."""
