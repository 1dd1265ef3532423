// The query language and the orders of the viewer, over the columns of a file. They are read and decided as the server does it (`view/query` of the engine),
// and a browser test compares both: a query that means another thing here would be worse than none. What this file cannot decide is an error that says so.

const WORDS = { p: "passed", f: "failed", m: "measured", s: "skipped", e: "error", n: "not_run", j: "not_judged" };
const OF_CASES = "pfmenj";
const OF_TASKS = "pfmsen";
// What people look at first comes first.
const SEVERITY = { e: 0, f: 1, n: 2, j: 3, m: 4, s: 5, "-": 5, p: 6 };

// Longer ones first: `<=` begins with `<`.
const OPERATORS = ["!=", "<=", ">=", "=", "<", ">", ":"];
const NAMED = ["task", "label", "score", "group", "node", "edge", "change", "delta"];
const DEEPEST = 100;
const SPACE = /^\p{White_Space}/u;

// A query or an order that cannot be meant.
class Wrong extends Error {}

const tick = (it) => `\`${it}\``;

function listed(all) {
  const names = all.map(tick);
  return names.length < 2 ? (names[0] ?? "nothing") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

// The text of a query as a tree: `all`, `any`, `not`, and terms that know their place.
class Reader {
  constructor(text) {
    Object.assign(this, { text, at: 0, depth: 0 });
  }

  get rest() {
    return this.text.slice(this.at);
  }

  wrong(at, message) {
    return new Wrong(`${message} at character ${[...this.text.slice(0, at)].length + 1}`);
  }

  take(token) {
    const isThere = this.text.startsWith(token, this.at);
    if (isThere) this.at += token.length;
    return isThere;
  }

  // `OR` is a word only by itself.
  atOr() {
    return /^OR(?:[ \t\n()]|$)/.test(this.rest);
  }

  query() {
    const all = this.all();
    if (this.rest) throw this.wrong(this.at, "a `)` without its `(`");
    return all;
  }

  all() {
    const parts = [];
    for (;;) {
      this.at += this.rest.length - this.rest.replace(/^\p{White_Space}+/u, "").length;
      if (!this.rest || this.rest[0] === ")" || (this.atOr() && this.depth > 0)) return { all: parts };
      if (this.atOr()) throw this.wrong(this.at, '`OR` stands in parentheses: `(a OR b)`; write `"OR"` for the text');
      parts.push(this.part());
    }
  }

  part() {
    const start = this.at;
    if (this.take("-")) {
      if (!this.rest || SPACE.test(this.rest)) throw this.wrong(start, "`-` directly precedes the term that it excludes, without a space");
      return this.deeper(start, "-", () => ({ not: this.part() }));
    }
    return this.take("(") ? this.deeper(start, "parentheses", () => this.group(start)) : this.term();
  }

  deeper(start, what, read) {
    this.depth += 1;
    if (this.depth > DEEPEST) throw this.wrong(start, `more ${what === "-" ? "`-`" : what} than can be meant`);
    const found = read();
    this.depth -= 1;
    return found;
  }

  group(start) {
    const parts = [this.all()];
    while (this.atOr()) {
      this.at += 2;
      parts.push(this.all());
    }
    if (!this.take(")")) throw this.wrong(start, "a `(` without its `)`");
    return { any: parts };
  }

  term() {
    const start = this.at;
    const key = this.key();
    if (key === null) return { at: start, operator: "=", values: [this.value("a text")] };
    const term = { at: start, key: { text: key, at: start }, query: this.text };
    const takesName = NAMED.includes(key);
    if (takesName && this.take(":")) {
      term.name = this.until("a name", /[\p{White_Space}()=<>!,]/u);
    } else if (takesName && key !== "change") {
      throw this.wrong(start, `\`${key}\` takes a name: \`${key}:NAME=VALUE\``);
    }
    const operator = OPERATORS.find((it) => this.rest.startsWith(it));
    if (key === "change" || key === "delta") return this.unread(term);
    if (!operator || (takesName && operator === ":")) {
      throw this.wrong(start, `\`=\` or another comparison must follow \`${this.text.slice(start, this.at)}\``);
    }
    this.at += operator.length;
    term.operator = operator === ":" ? "=" : operator;
    term.values = [this.value("a value")];
    while (this.take(",")) term.values.push(this.value("a value"));
    return term;
  }

  // What is about two runs is refused anyway: only its end must be found.
  unread(term) {
    this.at += this.rest.match(/^[^\p{White_Space})]*/u)[0].length;
    return { ...term, values: [] };
  }

  // A word that a comparison follows.
  key() {
    const [word] = this.rest.match(this.rest.startsWith("row.") ? /^[^ \t\n()"=<>!:,]*/ : /^[A-Za-z0-9_]*/);
    const follows = this.rest.slice(word.length);
    if (!/^[A-Za-z]/.test(word) || !OPERATORS.some((it) => follows.startsWith(it))) return null;
    this.at += word.length;
    return word;
  }

  value(what) {
    return this.until(what, /[\p{White_Space}(),]/u);
  }

  until(what, end) {
    const start = this.at;
    if (this.rest[0] === '"') return this.quoted();
    const length = this.rest.search(end);
    this.at += length < 0 ? this.rest.length : length;
    if (this.at === start) throw this.wrong(start, `${what} is missing here`);
    return { text: this.text.slice(start, this.at), at: start };
  }

  quoted() {
    const start = this.at;
    const found = this.rest.match(/^"((?:[^"\\]|\\[^])*)"/);
    if (!found) throw this.wrong(start, 'a `"` without its end');
    this.at += found[0].length;
    const plain = { n: "\n", t: "\t", '"': '"', "\\": "\\" };
    return { text: found[1].replace(/\\([^])/g, (all, letter) => plain[letter] ?? all), at: start };
  }
}

// A text with `*` at either end.
function glob(text) {
  const isOpen = text.length > 1 && text.startsWith("*");
  const rest = isOpen ? text.slice(1) : text;
  if (!rest.endsWith("*")) return isOpen ? (it) => it.endsWith(rest) : (it) => it === rest;
  const part = rest.slice(0, -1);
  return isOpen ? (it) => it.includes(part) : (it) => it.startsWith(part);
}

// Small letters match both cases, a capital makes it exact.
function needle(text) {
  if (/\p{Uppercase}/u.test(text)) return (it) => it.includes(text);
  const small = text.toLowerCase();
  return (it) => it.toLowerCase().includes(small);
}

const UNITS = [["us", 1], ["µs", 1], ["ms", 1e3], ["s", 1e6], ["m", 6e7]];

function numberOf(text, isTime) {
  const [unit, factor] = isTime ? (UNITS.find(([it]) => text.endsWith(it)) ?? [null]) : ["", 1];
  if (unit === null) return null;
  const plain = text.slice(0, text.length - unit.length);
  const number = Number(plain);
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) && Number.isFinite(number) ? number * factor : null;
}

const COMPARE = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b };

// What terms and orders mean in the columns of one run. Tests give true, false, or null where this file cannot know.
class Meaning {
  constructor(columns, details) {
    Object.assign(this, { columns, details });
    this.variant = (ix) => columns.variants[(columns.numbers?.[ix] ?? ix) % columns.variants.length];
    const { took, cost, tokens, latency, requests } = columns;
    this.figures = { took, tokens, latency, requests, cost: cost?.map((it) => it && it / 1e9) };
  }

  test(tree) {
    if (tree.all) return this.joined(tree.all, false);
    if (tree.any) return this.joined(tree.any, true);
    if (tree.not) return this.turned(this.test(tree.not));
    const test = this.term(tree);
    // A number knows `!=` itself: what has none is neither equal nor unequal.
    return tree.operator === "!=" && !test.isNumber ? this.turned(test) : test;
  }

  turned(test) {
    return (ix) => {
      const found = test(ix);
      return found === null ? null : !found;
    };
  }

  // All of the parts, or any: the first that decides, decides; else what is not known stays so.
  joined(parts, decides) {
    const tests = parts.map((it) => this.test(it));
    return (ix) => {
      let found = !decides;
      for (const test of tests) {
        const one = test(ix);
        if (one === decides) return decides;
        if (one === null) found = null;
      }
      return found;
    };
  }

  wrong(term, { at }, message) {
    return new Wrong(`${message} at character ${[...term.query.slice(0, at)].length + 1}`);
  }

  term(term) {
    if (!term.key) return this.looked("text", term);
    const key = term.key.text;
    switch (key) {
      case "verdict":
        return this.verdicts(term, this.columns.codes, OF_CASES);
      case "task":
        return this.verdicts(term, this.task(term).codes, OF_TASKS);
      case "label":
        return this.among(term, "label", this.task(term).labels ?? { texts: [], numbers: [] });
      case "score":
        return this.bound(term, this.task(term).scores ?? [], false);
      case "group":
        return this.among(term, "value", this.group(term));
      case "subject":
      case "prompt":
        return this.ofVariant(term, key, (it) => it[key]);
      case "replicate":
        return this.ofVariant(term, "repetition", (it) => String(it.replicate));
      case "id":
        return this.ids(term);
      case "took":
      case "latency":
        return this.bound(term, this.figure(term), true);
      case "cost":
      case "tokens":
      case "requests":
        return this.bound(term, this.figure(term), false);
      case "reused":
      case "flaky":
        return this.flag(term, key);
      case "why":
        this.isOrNot(term);
        return this.looked("why", term);
      default:
        throw this.refused(term, key);
    }
  }

  refused(term, key) {
    const run = tick("jurat view");
    const elsewhere = { human: "labels of people", node: "ways through conversations", edge: "ways through conversations" };
    if (key.startsWith("row.")) return this.wrong(term, term.key, `\`row.PATH\` looks into rows as they are in the run: use ${run} or ${tick("jurat show --where")}`);
    if (key in elsewhere) return this.wrong(term, term.key, `this file does not have ${elsewhere[key]} as a column: \`${key}:\` is for ${run}`);
    if (key === "change" || key === "delta") return this.wrong(term, term.key, `\`${key}:\` is about two runs: it is for comparisons`);
    const keys = ["verdict", "task", "label", "score", "group", "subject", "prompt", "replicate", "id", "took", "cost", "tokens", "latency", "requests", "reused", "flaky", "why"];
    return this.wrong(term, term.key, `there is no key \`${key}\`; this file takes ${listed(keys)}, and a text in quotes is looked for`);
  }

  isOrNot(term) {
    if (!["=", "!="].includes(term.operator)) throw this.wrong(term, term, `\`${term.operator}\` compares numbers; write \`=\` or \`!=\``);
  }

  task(term) {
    const tasks = this.columns.tasks;
    const task = tasks.find((it) => it.id === term.name.text);
    if (!task) throw this.wrong(term, term.name, `the run has no task \`${term.name.text}\`; it has ${listed(tasks.map((it) => it.id))}`);
    return task;
  }

  verdicts(term, codes, letters) {
    this.isOrNot(term);
    const names = [...letters].map((it) => WORDS[it]);
    for (const value of term.values) if (!names.includes(value.text)) throw this.wrong(term, value, `\`${value.text}\` is no verdict here; there are ${listed(names)}`);
    const meant = new Set([...letters].filter((it) => term.values.some(({ text }) => text === WORDS[it])));
    return (ix) => meant.has(codes[ix]);
  }

  known(term, what, texts) {
    this.isOrNot(term);
    const unknown = term.values.find((it) => !texts.includes(it.text));
    if (unknown) throw this.wrong(term, unknown, texts.length ? `there is no ${what} \`${unknown.text}\`; there are ${listed(texts.slice(0, 20))}` : `the run has no ${what} here`);
    return term.values.map((it) => it.text);
  }

  among(term, what, { texts, numbers }) {
    const known = this.known(term, what, texts);
    const isMeant = texts.map((it) => known.includes(it));
    return (ix) => isMeant[numbers[ix]] === true;
  }

  group(term) {
    const { groups, paths } = this.columns;
    if (!paths.includes(term.name.text)) {
      throw this.wrong(term, term.name, paths.length ? `the suite groups by ${listed(paths)}` : "the suite has no `group_by`; `row.PATH=VALUE` looks into rows");
    }
    const group = groups.find((it) => it.path === term.name.text);
    if (!group) throw this.wrong(term, term.name, "the run was recorded before groups were stored; `row.PATH=VALUE` looks into rows");
    return group;
  }

  ofVariant(term, what, read) {
    const all = this.columns.variants.map(read);
    const known = this.known(term, what, [...new Set(all.filter((it) => it))].sort(byCode));
    const isMeant = new Map(this.columns.variants.map((it, ix) => [it, known.includes(all[ix])]));
    return (ix) => isMeant.get(this.variant(ix));
  }

  ids(term) {
    this.isOrNot(term);
    const globs = term.values.map((it) => glob(it.text));
    return (ix) => globs.some((it) => it(this.columns.ids[ix]));
  }

  figure({ key, ...term }) {
    if (this.columns.isResultsOnly) throw this.wrong(term, key, `\`${key.text}\` is left out of this file by \`--results-only\``);
    return this.figures[key.text] ?? [];
  }

  bound(term, numbers, isTime) {
    const words = isTime ? "a time such as `2s`, with `us`, `ms`, `s` or `m`" : "a number";
    const values = term.values.map((it) => {
      const number = numberOf(it.text, isTime);
      if (number === null) throw this.wrong(term, it, `\`${it.text}\` is not ${words}`);
      return number;
    });
    const isNot = term.operator === "!=";
    const compare = COMPARE[isNot ? "=" : term.operator];
    const test = (ix) => numbers[ix] != null && values.some((it) => compare(numbers[ix], it)) !== isNot;
    return Object.assign(test, { isNumber: true });
  }

  flag(term, key) {
    this.isOrNot(term);
    const [{ text, at }] = term.values;
    if (term.values.length > 1 || !["yes", "no"].includes(text)) throw this.wrong(term, { at }, "write `yes` or `no`");
    if (key === "reused" && this.columns.isResultsOnly) throw this.wrong(term, term.key, "`reused` is left out of this file by `--results-only`");
    const marks = this.columns[key];
    const wanted = text === "yes" ? "1" : "0";
    // A run without repetitions has nothing that differs between them; one that asked nothing reused nothing.
    if (!marks) return () => key === "flaky" && wanted === "0";
    return (ix) => marks[ix] === wanted;
  }

  // A text in what the details of a case say: not known where there are none.
  looked(what, term) {
    const needles = term.values.map((it) => needle(it.text));
    return (ix) => this.details(ix)?.[what].some((text) => needles.some((it) => it(text))) ?? null;
  }
}

// Whether a query looks into details, which have to be unpacked first.
function looksIntoDetails(tree) {
  if (tree.not) return looksIntoDetails(tree.not);
  const parts = tree.all ?? tree.any;
  return parts ? parts.some(looksIntoDetails) : !tree.key || tree.key.text === "why";
}

// Texts in the order of their letters, as the server has them: by code point.
function byCode(one, other) {
  const length = Math.min(one.length, other.length);
  const point = (it) => (it < 0xd800 ? it : it < 0xe000 ? it + 0x2000 : it - 0x800);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return point(a) - point(b);
  }
  return one.length - other.length;
}

const SORTS = ["input", "id", "verdict", "took", "cost", "tokens", "latency"];

// The value by which a case is put in order; null comes last.
function keyOf(meaning, sort) {
  const { columns } = meaning;
  const [, kind, name] = sort.match(/^(score|label):(.+)$/s) ?? [];
  if (!kind && !SORTS.includes(sort)) throw new Wrong(`\`sort\` cannot be \`${sort}\`: it takes ${SORTS.map(tick).join(", ")}, \`score:TASK\` or \`label:TASK\``);
  if (kind) {
    const task = columns.tasks.find((it) => it.id === name);
    if (!task) throw new Wrong(`the run has no task \`${name}\``);
    return kind === "score" ? (ix) => task.scores?.[ix] ?? null : (ix) => (task.labels?.numbers[ix] >= 0 ? task.labels.numbers[ix] : null);
  }
  if (sort === "id") return (ix) => columns.ids[ix] || null;
  if (sort === "verdict") return (ix) => SEVERITY[columns.codes[ix]];
  if (columns.isResultsOnly) throw new Wrong(`\`${sort}\` is left out of this file by \`--results-only\``);
  return (ix) => meaning.figures[sort]?.[ix] ?? null;
}

// What has no value comes last in both directions, and ties stay in the order of input.
function ordered(meaning, cases, sort, descending) {
  if (sort === "input") return descending ? [...cases].reverse() : cases;
  const key = keyOf(meaning, sort);
  const keys = new Map(cases.map((ix) => [ix, key(ix)]));
  const sign = descending ? -1 : 1;
  const compare = sort === "id" ? byCode : (a, b) => a - b;
  return [...cases].sort((one, other) => {
    const [a, b] = [keys.get(one), keys.get(other)];
    if (a === null || b === null) return (a === null) - (b === null) || one - other;
    return sign * compare(a, b) || one - other;
  });
}
