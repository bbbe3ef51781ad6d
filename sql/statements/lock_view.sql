-- Keeps readers out of a release for the moment of the swap.
LOCK TABLE {{ view }} IN ACCESS EXCLUSIVE MODE
