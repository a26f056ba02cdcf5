"""A problem on the cells of a domain: where it is singular, how cells are graded and cut, what parts exchange."""
