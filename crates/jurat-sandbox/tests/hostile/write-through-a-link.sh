# without: files landlock
# proof: damage
ln -s "$TARGET" link && echo changed > link
