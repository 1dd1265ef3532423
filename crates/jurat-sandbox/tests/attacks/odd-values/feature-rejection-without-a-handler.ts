// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  Promise.reject(new Error("breach"));
  return Promise.any([]);
}
