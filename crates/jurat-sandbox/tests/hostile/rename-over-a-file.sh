# without: files landlock
# proof: damage
echo changed > own && mv -f own "$TARGET"
