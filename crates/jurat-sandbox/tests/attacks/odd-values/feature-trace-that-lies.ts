// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  const error = new Error("a");
  error.stack = "evaluator:99999999999999999999:1\n".repeat(100_000);
  throw error;
}
