"""Commands that outlive the session that started them: their keeper, their folder, their log."""
