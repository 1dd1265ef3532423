// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  console.log(new Proxy({}, { get: () => { throw new Error("x"); }, ownKeys: () => { throw 1; } }));
  console.error(...new Array(100_000).fill({}));
  return 1;
}
