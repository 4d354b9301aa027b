"""One folder per coding agent, the same file names in each; `table` lists them."""
