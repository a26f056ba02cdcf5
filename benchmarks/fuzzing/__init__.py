"""Malformed calls of the public interface: good calls, ways to spoil them, and a judge."""
