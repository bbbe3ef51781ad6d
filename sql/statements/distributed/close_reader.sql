-- Takes what everybody has by default.
REVOKE ALL ON FUNCTION {{ reader }} FROM PUBLIC
