"""The timeline: tracks, windows of slices and counters by their pixels, search, one slice."""
