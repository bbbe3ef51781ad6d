"""Reports of audits as pages: text in, text out; no database, no files, no network."""
