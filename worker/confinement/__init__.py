"""What a child's process takes from itself before it begins, and what this system can hold it to."""
