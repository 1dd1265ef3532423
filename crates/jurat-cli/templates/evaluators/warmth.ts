const WARM = ["love", "enjoy", "wonderful", "delight"];

export function evaluate({ output }: { output: string }): number {
  const words = output.toLowerCase().match(/[a-z]+/g) ?? [];
  return Math.min(1, (3 * words.filter((it) => WARM.includes(it)).length) / Math.max(1, words.length));
}
