// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const end = Date.now() + 3000;
  let value = 3n;
  while (Date.now() < end) value = (value ** 3n) % (1n << 60000n);
  return "breached";
}
