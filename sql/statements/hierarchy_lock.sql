-- Lets one call at a time store hierarchies; readers go on.
LOCK TABLE kanon.hierarchy IN SHARE ROW EXCLUSIVE MODE
