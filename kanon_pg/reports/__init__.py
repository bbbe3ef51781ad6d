"""Pages about a table, and figures in files: data in, text or a figure out; no database, no network.

A page has no drawing library: its charts are text with bars beside it, laid out by the template, so that text
keeps its size on a phone, colours follow the reader's scheme, and nothing but the page's own style sheet is
needed. The SVG of Matplotlib has inline styles, which the page's policy forbids, and like that of smaller
libraries (leather, pygal) its words shrink with the drawing. What has axes is a figure of Matplotlib, drawn
in `plots` alone and written to a file; that needs the extra ``plots``.
"""
