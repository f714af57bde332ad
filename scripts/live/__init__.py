"""A live installation on one machine: servers, workers, producers and a Prometheus that watches them."""
