"""What covey costs, measured beside a peer that does the same work in the same run; never part of a test."""
