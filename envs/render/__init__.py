"""Pictures and text of tables, and how they are shown."""
