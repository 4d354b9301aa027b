"""What sessions cost, and how full the one at hand is: the use cases behind `usage` and `budget`."""
