import type { Histogram } from "./histogram.ts";

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
