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

/** A metric with its samples. It can be sent as JSON. */
export interface MetricFamily {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  /** Whether the values of the processes of a server are added up. Of other values the lowest one counts. */
  isSum: boolean;
  /** The values by name and labels, as they are written. */
  samples: [key: string, value: number][];
}

/** Writes metrics as text for Prometheus ("text-based format", version 0.0.4). */
export class Exposition {
  readonly #families: MetricFamily[] = [];

  get families(): readonly MetricFamily[] {
    return this.#families;
  }

  /** Adds values that only grow while the program runs. The name ends in `_total`. */
  counter(name: string, help: string, samples: Iterable<Sample>): void {
    this.#begin(name, help, "counter", true);
    for (const [labels, value] of samples) this.#add(name, labels, value);
  }

  /** Adds values that go up and down. @param isSum See `MetricFamily`. */
  gauge(name: string, help: string, samples: Iterable<Sample>, { isSum = false } = {}): void {
    this.#begin(name, help, "gauge", isSum);
    for (const [labels, value] of samples) this.#add(name, labels, value);
  }

  histogram(name: string, help: string, samples: Iterable<Sample<Histogram>>): void {
    this.#begin(name, help, "histogram", true);
    for (const [labels, histogram] of samples) {
      for (const [bound, count] of histogram.cumulative()) {
        this.#add(`${name}_bucket`, { ...labels, le: textOf(bound) }, count);
      }
      this.#add(`${name}_sum`, labels, histogram.sum);
      this.#add(`${name}_count`, labels, histogram.count);
    }
  }

  /** Combines the metrics with those of another process. */
  merge(others: readonly MetricFamily[]): void {
    for (const other of others) {
      const own = this.#families.find(({ name }) => name === other.name);
      if (own === undefined) this.#families.push(other);
      else own.samples = merged(own, other.samples);
    }
  }

  toString(): string {
    return this.#families.map(({ name, help, type, samples }) => {
      const title = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
      const lines = samples.map(([key, value]) => `${key} ${textOf(value)}\n`).join("");
      return `# HELP ${name} ${title}\n# TYPE ${name} ${type}\n${lines}`;
    }).join("");
  }

  #begin(name: string, help: string, type: MetricFamily["type"], isSum: boolean): void {
    this.#families.push({ name, help, type, isSum, samples: [] });
  }

  #add(name: string, labels: Labels, value: number): void {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    const all = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
    this.#families.at(-1)?.samples.push([name + all, value]);
  }
}

/** Combines samples of one metric. */
function merged(
  { isSum, samples }: MetricFamily,
  others: MetricFamily["samples"],
): MetricFamily["samples"] {
  const values = new Map(samples);
  for (const [key, value] of others) {
    const known = values.get(key);
    values.set(
      key,
      known === undefined ? value : isSum ? known + value : Math.min(known, value),
    );
  }
  return [...values];
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
