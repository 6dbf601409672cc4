"""The decision desk: cases that last for days, in a database, with pages for people and an API for programs."""
