/** Counts values by the first bound that they do not exceed. */
export class Histogram {
  sum = 0;
  count = 0;
  readonly #bounds: readonly number[];
  /** One for each bound, and one for what is above all of them. */
  readonly #counts: number[];

  /** @param bounds In ascending order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
    let index = 0;
    // Few bounds, and most values are small: quicker than a search.
    while (index < this.#bounds.length && value > (this.#bounds[index] ?? Infinity)) index++;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** How many values do not exceed each bound, and at last all. */
  *cumulative(): Generator<[bound: number, count: number]> {
    let sum = 0;
    for (const [index, count] of this.#counts.entries()) {
      sum += count;
      yield [this.#bounds[index] ?? Infinity, sum];
    }
  }
}

/** Names and values of labels. */
export type Labels = Readonly<Record<string, string>>;

/** A figure and what it is of. */
export type Sample<T = number> = readonly [labels: Labels, value: T];

/** Metrics as text, in the format that Prometheus reads ("text-based format", version 0.0.4). */
export class Exposition {
  #text = "";

  /** What only grows while the program runs. The name ends in `_total`. */
  counter(name: string, help: string, samples: Iterable<Sample>): void {
    this.#begin(name, help, "counter");
    for (const [labels, value] of samples) this.#add(name, labels, value);
  }

  /** What goes up and down. */
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

/** One figure without labels. */
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
