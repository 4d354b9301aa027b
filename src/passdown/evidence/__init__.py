"""Evidence: sessions, workbench and git made into facts with provenance. Pure: nothing is run, nothing is written."""
