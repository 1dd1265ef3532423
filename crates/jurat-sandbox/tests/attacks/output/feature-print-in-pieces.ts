// without: output
// flood: yes

export function evaluate({ turn }: { turn: number }): unknown {
  for (let ix = 0; ix < 8192; ix++) console.error("x".repeat(1024));
}
