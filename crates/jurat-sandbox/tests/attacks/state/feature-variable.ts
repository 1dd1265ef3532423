// without: names
// turns: 2

let count = 0;
export function evaluate({ turn }: { turn: number }): unknown {
  count += 1;
  return count === 2 ? "breached" : "nothing";
}
