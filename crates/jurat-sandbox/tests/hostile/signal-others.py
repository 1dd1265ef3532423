# without: processes landlock
# proof: damage
import os
os.kill(VICTIM, 9)
