-- Whose rights count; not for definer functions, where it would be their owner.
SELECT CURRENT_USER::text AS role
