"""The suppression curve: what each k costs, counted once and solved for many k; publishes nothing."""
