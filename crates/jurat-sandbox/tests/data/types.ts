import type { Nothing } from "nowhere";
export type { Nothing };
interface Box<T extends object = {}> {
  readonly value?: T;
  [key: string]: unknown;
}
type Pair<A, B = A> = [first: A, second?: B];
declare const missing: string;
declare function absent(a: number): void;
declare namespace Gone { const x: number }
declare global { interface Window { a: 1 } }
export abstract class Shape<T> implements Box, Iterable<T> {
  declare ghost: string;
  static readonly kind: string = "shape";
  private readonly items: T[] = [];
  protected size?: number;
  name!: string;
  [key: string]: any;
  count = 1
  readonly ["computed"] = 2
  constructor(items?: T[], private_ = 1) { this.items = items ?? []; }
  abstract area(): number;
  get(this: Shape<T>, ix: number): T | undefined;
  get(ix: number): T | undefined { return this.items[ix]!; }
  public async *walk<U>(each: (it: T) => U): AsyncGenerator<U> { for (const it of this.items) yield each(it); }
  maybe?(): void {}
  *[Symbol.iterator](): Iterator<T> { yield* this.items; }
  static { const x: number = 1; }
}
class Square extends Shape<number> {
  override area(): number { return this.items.length as number; }
}
const multiline = (
  a: string,
  b?: number,
): {
  a: string;
} => ({ a });
const generic = async <
  T,
>(x: T): Promise<T> => x;
const asserted = { a: 1 } satisfies Record<string, number> as const;
let unsettled!: string
const joined = [1, 2, 3] as number[]
;[unsettled] = ["set"]
let first = 1 as any
type Between = string
(function () { first = first === 1 ? "kept apart" : "joined"; })()
const second = asserted.a as number
[1].forEach(() => {})
function overloaded(a: string): string;
function overloaded(a: number): number;
function overloaded(a: any): any { return a; }
function isText(value: unknown): value is string { return typeof value === "string"; }
function asserts(value: unknown): asserts value is string {}
const tagged = String.raw<string>`a\n`;
const é /* ünï */ : /* type: é */ string = "é";
const made = new Map<string, Array<Array<number>>>([["a", [[1]]]]);
const less = 1 < 2, more = (3 > 2) as boolean;
for (const x of [1, 2] as const) { void (x satisfies number); }
try { throw new Error("x") } catch (error: unknown) { void error }
label: for (let ix: number = 0; ix < 1; ix++) { continue label }

export async function evaluate({ output }: { output?: string; deep: { a: ")" } }): Promise<[string, number | null]> {
  const square: Square = new Square([1, 2]);
  const found = [
    square.area() === 2,
    square.get(1) === 2,
    [...square].length === 2,
    square.count === 1,
    square["computed"] === 2,
    !("ghost" in square),
    Shape.kind === "shape",
    multiline("x").a === "x",
    (await generic<number>(3)) === 3,
    unsettled === "set",
    first === "kept apart",
    second === 1,
    joined.length === 3,
    overloaded(output!) === "x",
    isText(output),
    tagged === "a\\n",
    é === "é",
    made.get("a")![0]![0] === 1,
    less && more,
    typeof square.maybe === "function",
  ];
  const wrong = found.indexOf(false);
  asserts(output);
  let line: number | null = null;
  try {
    (undefined as any).property;
  } catch (error) {
    line = Number(/evaluator:(\d+)/.exec((error as Error).stack!)![1]);
  }
  return [wrong < 0 ? "ok" : `wrong: ${wrong}`, line];
}
