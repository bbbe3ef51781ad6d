-- Lets the view of a release run it for its readers, whoever they are.
GRANT EXECUTE ON FUNCTION {{ reader }} TO PUBLIC
