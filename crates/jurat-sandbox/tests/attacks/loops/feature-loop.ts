// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const end = Date.now() + 3000;
  while (Date.now() < end);
  return "breached";
}
