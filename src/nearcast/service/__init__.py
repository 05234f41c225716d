"""The service: publish and subscribe over HTTP, durable delivery, and a live map."""
