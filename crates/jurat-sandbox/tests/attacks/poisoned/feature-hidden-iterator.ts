// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  if (turn === 2) return [...[1, 2]].length === 0 ? "breached" : "nothing";
  Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true, value: 1 });
  return 0;
}
