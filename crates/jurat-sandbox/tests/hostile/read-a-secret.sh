# without: files
cat "$SECRET" | sed s/canary/breached/
