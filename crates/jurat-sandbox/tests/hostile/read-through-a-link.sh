# without: files
ln -s "$SECRET" link && sed s/canary/breached/ link
