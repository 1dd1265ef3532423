// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  let chain: any = 1;
  for (let ix = 0; ix < 50_000; ix++) { const inner = chain; chain = { then: (done: any) => done(inner) }; }
  return chain;
}
