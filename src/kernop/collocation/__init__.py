"""A problem at points: sampling, units, functionals, assembly, batches, inputs, probes."""
