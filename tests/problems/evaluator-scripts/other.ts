export const judge = ({ output }: { output: string }) => 1;
export function score() { return 2 }
