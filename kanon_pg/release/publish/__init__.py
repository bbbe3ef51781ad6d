"""From a plan to what stands behind a release: solved, stored, recounted, remembered, shown."""
