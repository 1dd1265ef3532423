print('{"type": "final", "text": "done"}')
