"""From a base relation to a guarded, recounted, published release."""
