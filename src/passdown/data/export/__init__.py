"""Exporters: samples as rows that trainers and people read, each target in one file."""
