"""How wrong, how certain: diagnosis of the problem, error estimates, evidence, a priori bounds."""
