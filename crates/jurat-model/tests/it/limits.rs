//! How many at once, how many a minute, who goes first, and waits that everybody keeps.
