"""The end of a run as a record, and the alerts that root's file sends of it."""
