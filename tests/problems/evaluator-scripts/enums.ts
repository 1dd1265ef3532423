enum Verdict { Good, Bad }

export function evaluate({ output }: { output: string }) {
  return Verdict.Good;
}
