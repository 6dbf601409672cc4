"""LSID3 and ACT: look-ahead by sampling trees."""
