import { delay } from "@std/async/delay";
import type { Drive } from "../support/drive.ts";
import { residentBytes, type TestServer } from "../support/server.ts";
import type { Loop } from "./clients.ts";

/** What a server takes of its machine at one moment. */
export interface Sample {
  /** Seconds since the start. */
  at: number;
  /** Bytes. */
  resident: number;
  descriptors: number;
  /** Bytes of the database with its log. */
  disk: number;
}

/** Time between two samples, in milliseconds. */
const SAMPLE_INTERVAL = 5000;
const PROBE_INTERVAL = 100;
/** Looks in a row, one each `PROBE_INTERVAL`, that find few descriptors after the start. */
const QUIET_LOOKS = 10;
/** The longest time until then, in milliseconds. */
const START_TIME = 120_000;

/** Watches a server from outside: memory, descriptors, disk, and how long a small request takes. */
export class Monitor {
  readonly samples: Sample[] = [];
  /** How long small uploads and downloads took, in milliseconds. */
  readonly latencies: number[] = [];
  readonly #began = performance.now();

  constructor(private readonly server: TestServer, private readonly drive: Drive) {}

  /**
   * Waits until few descriptors are open for a second. At its start the server measures how many it can open, by opening
   * them, which takes 0.2 seconds and may begin a little later.
   */
  async settled(most: number): Promise<void> {
    const end = performance.now() + START_TIME;
    for (let quiet = 0; quiet < QUIET_LOOKS; quiet++) {
      if (await countEntries(`/proc/${this.server.process.pid}/fd`) > most) quiet = -1;
      if (performance.now() > end) throw new Error("The server keeps too many descriptors open.");
      await delay(PROBE_INTERVAL);
    }
  }

  async sample(): Promise<Sample> {
    const { pid } = this.server.process;
    const sample = {
      at: Math.round((performance.now() - this.#began) / 1000),
      resident: await residentBytes(pid),
      descriptors: await countEntries(`/proc/${pid}/fd`),
      disk: await bytesBelow(this.server.data),
    };
    this.samples.push(sample);
    return sample;
  }

  async watch(loop: Loop): Promise<void> {
    await loop(async () => {
      await this.sample();
      await delay(SAMPLE_INTERVAL);
    });
  }

  /** Stores and reads a small file like every tenant, and takes the time of both. */
  async probe(loop: Loop): Promise<void> {
    await loop(async () => {
      const began = performance.now();
      await this.drive.put("probe", "a small file");
      const written = performance.now();
      await this.drive.text("probe");
      this.latencies.push(written - began, performance.now() - written);
      await delay(PROBE_INTERVAL);
    });
  }

  /** The latency that this share of the probes did not exceed, in milliseconds. */
  percentile(share: number): number {
    const sorted = this.latencies.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }

  /** The greatest values of all samples. */
  most(): Omit<Sample, "at"> {
    const of = (figure: "resident" | "descriptors" | "disk") =>
      Math.max(...this.samples.map((sample) => sample[figure]));
    return { resident: of("resident"), descriptors: of("descriptors"), disk: of("disk") };
  }
}

async function countEntries(folder: string): Promise<number> {
  return (await Array.fromAsync(Deno.readDir(folder))).length;
}

/** Bytes on the disk of all files of a folder. */
async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile) bytes += await sizeOf(`${folder}/${name}`);
  }
  return bytes;
}

async function sizeOf(path: string): Promise<number> {
  try {
    const { size, blocks } = await Deno.stat(path);
    return blocks === null ? size : blocks * 512;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}
