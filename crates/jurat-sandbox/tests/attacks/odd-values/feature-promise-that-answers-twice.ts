// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return { then(done: (it: unknown) => void, failed: (it: unknown) => void) { done(1); done("breached"); failed(2); } };
}
