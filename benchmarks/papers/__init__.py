"""The figures of the papers, measured again here."""
