# timeout(1) waits for a signal; what it started waits for a time.
timeout 60 sleep 2
