// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const until = Date.now() + 2000;
  while (Date.now() < until) /(?<=(?:a|aa)+)c/.test("a".repeat(18) + "b");
  return "breached";
}
