/** Counts values by the lowest bound that is not below them. */
export class Histogram {
  sum = 0;
  count = 0;
  /** One for each bound, and one for values above all of them. */
  readonly #counts: number[];

  /** @param bounds In ascending order. */
  constructor(private readonly bounds: readonly number[]) {
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
    let index = 0;
    // A linear search is fastest: there are few bounds, and most values are small.
    while (index < this.bounds.length && value > (this.bounds[index] ?? Infinity)) index++;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** The number of values up to each bound, and of all values at the bound `Infinity`. */
  *cumulative(): Generator<[bound: number, count: number]> {
    let sum = 0;
    for (const [index, count] of this.#counts.entries()) {
      sum += count;
      yield [this.bounds[index] ?? Infinity, sum];
    }
  }
}

export type Labels = Readonly<Record<string, string>>;

export type Sample<T = number> = readonly [labels: Labels, value: T];

/** Writes metrics as text for Prometheus ("text-based format", version 0.0.4). */
export class Exposition {
  #text = "";

  /** Adds values that only grow while the program runs. The name ends in `_total`. */
  counter(name: string, help: string, samples: Iterable<Sample>): void {
    this.#begin(name, help, "counter");
    for (const [labels, value] of samples) this.#add(name, labels, value);
  }

  /** Adds values that go up and down. */
  gauge(name: string, help: string, samples: Iterable<Sample>): void {
    this.#begin(name, help, "gauge");
    for (const [labels, value] of samples) this.#add(name, labels, value);
  }

  histogram(name: string, help: string, samples: Iterable<Sample<Histogram>>): void {
    this.#begin(name, help, "histogram");
    for (const [labels, histogram] of samples) {
      for (const [bound, count] of histogram.cumulative()) {
        this.#add(`${name}_bucket`, { ...labels, le: textOf(bound) }, count);
      }
      this.#add(`${name}_sum`, labels, histogram.sum);
      this.#add(`${name}_count`, labels, histogram.count);
    }
  }

  toString(): string {
    return this.#text;
  }

  #begin(name: string, help: string, type: string): void {
    this.#text += `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n`;
    this.#text += `# TYPE ${name} ${type}\n`;
  }

  #add(name: string, labels: Labels, value: number): void {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    const all = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
    this.#text += `${name}${all} ${textOf(value)}\n`;
  }
}

/** One value without labels. */
export function only(value: number): readonly Sample[] {
  return [[{}, value]];
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function textOf(value: number): string {
  if (value === Infinity) return "+Inf";
  return String(value);
}
