"""The workbench's files: find each one, read every variant of it, or say precisely why not."""
