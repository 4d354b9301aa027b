"""The use cases: gather, wrap, show, init, demo. The only conductors; everything below plays one instrument."""
