mkdir out
echo text > out/report.md
ln -s out/report.md latest.md
ln -s /workspace/out seen
ln -s /etc/hostname host.md
ln -s nothing gone.md
echo old > old-report.md
echo '{"type": "final", "text": "done"}'
