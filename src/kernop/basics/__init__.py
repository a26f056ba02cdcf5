"""What every room stands on: exceptions and checks, memory, float64, progress, LAPACK, containers on disk."""
