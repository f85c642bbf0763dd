"""The event-driven method: smooth motion between events, impulses at them."""
