# without: files landlock
# proof: damage
echo changed > "$TARGET"
