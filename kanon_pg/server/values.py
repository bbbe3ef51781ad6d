"""What PL/Python hands over."""

from __future__ import annotations

from typing import Any

SqlValue = Any
"""An argument as PL/Python hands it over; None for NULL, which the services judge."""
