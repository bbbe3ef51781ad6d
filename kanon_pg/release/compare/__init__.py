"""What several releases disclose together."""
