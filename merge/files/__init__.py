"""What lies on the disk: writing, renaming and removing files so that nothing is lost, and locks."""
