"""What runs inside a coding agent: spool and return, print the prepared brief, and do the work afterwards."""
