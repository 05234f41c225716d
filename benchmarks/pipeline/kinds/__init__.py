"""Every kind of subscription in a stream: a file for each, and one that measures them."""
