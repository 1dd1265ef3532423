// without: output
// flood: yes

export function evaluate({ turn }: { turn: number }): unknown {
  for (let ix = 0; ix < 8; ix++) console.log("x".repeat(1 << 20));
}
