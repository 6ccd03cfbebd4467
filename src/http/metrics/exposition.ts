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

type Labels = Readonly<Record<string, string>>;

export type Sample<T = number> = readonly [labels: Labels, value: T];

type Reading = number | Histogram | Iterable<Sample<number | Histogram>> | undefined;

/** A metric, and how it is read: a value, or samples with labels. It is left out if there is `undefined`. */
interface Metric<Source> {
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** Whether the values of the processes of a server are added up. Of other values the lowest one counts. */
  isSum: boolean;
  read: (source: Source) => Reading;
}

/** Metrics by name. */
export type MetricTable<Source> = Readonly<Record<string, Metric<Source>>>;

/** A value that only grows while the program runs. Its name ends in `_total`. */
export function counter<Source>(help: string, read: Metric<Source>["read"]): Metric<Source> {
  return { type: "counter", help, isSum: true, read };
}

/** A value that goes up and down, and is the same for all processes. */
export function gauge<Source>(help: string, read: Metric<Source>["read"]): Metric<Source> {
  return { type: "gauge", help, isSum: false, read };
}

/** A value that goes up and down, and is added up. */
export function sum<Source>(help: string, read: Metric<Source>["read"]): Metric<Source> {
  return { type: "gauge", help, isSum: true, read };
}

export function histogram<Source>(help: string, read: Metric<Source>["read"]): Metric<Source> {
  return { type: "histogram", help, isSum: true, read };
}

/** A metric with its samples. It can be sent as JSON. */
export interface MetricFamily extends Omit<Metric<never>, "read"> {
  name: string;
  /** The values by name and labels, as they are written. */
  samples: [key: string, value: number][];
}

/** Reads all metrics of a table. */
export function readMetrics<Source>(table: MetricTable<Source>, source: Source): MetricFamily[] {
  return Object.entries(table).flatMap(([name, { read, ...metric }]) => {
    const found = read(source);
    if (found === undefined) return [];
    const isSingle = typeof found === "number" || found instanceof Histogram;
    const labelled = isSingle ? [[{}, found] as const] : [...found];
    const samples = labelled.flatMap(([labels, value]) => samplesOf(name, labels, value));
    return { name, ...metric, samples };
  });
}

/** Combines metrics with those of another process. */
export function mergeMetrics(
  own: readonly MetricFamily[],
  others: readonly MetricFamily[],
): MetricFamily[] {
  const added = others.filter(({ name }) => !own.some((one) => one.name === name));
  const combined = own.map((one) => {
    const other = others.find(({ name }) => name === one.name);
    return other === undefined ? one : { ...one, samples: merged(one, other.samples) };
  });
  return [...combined, ...added];
}

/** Returns metrics as text for Prometheus ("text-based format", version 0.0.4). */
export function metricsText(families: readonly MetricFamily[]): string {
  return families.map(({ name, help, type, samples }) => {
    const title = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
    const lines = samples.map(([key, value]) => `${key} ${textOf(value)}\n`).join("");
    return `# HELP ${name} ${title}\n# TYPE ${name} ${type}\n${lines}`;
  }).join("");
}

/** Returns a sample for each count. */
export function countsBy(
  label: string,
  counts: ReadonlyMap<string, number> | Readonly<Record<string, number>>,
): Sample[] {
  const entries = counts instanceof Map ? [...counts] : Object.entries(counts);
  return entries.map(([value, count]) => [{ [label]: value }, count]);
}

function samplesOf(
  name: string,
  labels: Labels,
  value: number | Histogram,
): MetricFamily["samples"] {
  if (typeof value === "number") return [[keyOf(name, labels), value]];
  return [
    ...[...value.cumulative()].map(([bound, count]) =>
      [keyOf(`${name}_bucket`, { ...labels, le: textOf(bound) }), count] as [string, number]
    ),
    [keyOf(`${name}_sum`, labels), value.sum],
    [keyOf(`${name}_count`, labels), value.count],
  ];
}

function keyOf(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
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

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function textOf(value: number): string {
  if (value === Infinity) return "+Inf";
  return String(value);
}
