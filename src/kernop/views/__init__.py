"""Looking at functions on domains: pictures, tables, files for other programs, integrals and extremes."""
