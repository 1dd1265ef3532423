// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  class Fault extends Error {}
  Object.defineProperty(Fault.prototype, "name", { value: "N".repeat(900_000) });
  throw new Fault("x");
}
