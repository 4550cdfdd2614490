"""The screen of sessionlog: it looks at logs through the `sessionlog` library, never past it."""
