"""What the user writes: functions, coefficients, fields, conditions, problems."""
