import { join } from "@std/path/join";
import { sendEach } from "./load.ts";
import { FIRST, nameOf, type StockInput } from "./process_stock.ts";
import { runScript, type Scope } from "./scope.ts";
import { type Checkout, databaseOf, inDrive, Server } from "./server.ts";

/** The drives of a stocked store. Those of many files have them in ten directories. */
export const DRIVES = { large: "large", small: "small", tiny: "tiny" } as const;

/** Files in the small and in the tiny drive. */
export const SMALL_DRIVE = 1000;
export const TINY_DRIVE = 10;

/** Bytes of each file. */
export const STOCK_SIZE = 4;

/** Stores that hold a large drive and small ones. They are made when first asked for, once for each checkout. */
export class Stock {
  /** Files in the large drive. Their names are `nameOf(number)`, with numbers from `FIRST` on. */
  readonly files: number;
  readonly #scope: Scope;
  readonly #folders = new Map<Checkout, Promise<string>>();

  constructor(scope: Scope, files: number) {
    this.#scope = scope;
    this.files = files;
  }

  /** The data folder of such a store. One server at a time may run on it. */
  folder(checkout: Checkout): Promise<string> {
    const folder = this.#folders.get(checkout) ?? this.#fill(checkout);
    this.#folders.set(checkout, folder);
    return folder;
  }

  async #fill(checkout: Checkout): Promise<string> {
    const folder = join(await this.#scope.makeFolder(), "data");
    const first = await Server.start(this.#scope, checkout, folder);
    const body = new Uint8Array(STOCK_SIZE);
    await first.call(201, "POST", inDrive(DRIVES.large, `/files?name=${nameOf(FIRST)}`), body);
    await first.stop();
    const input: StockInput = { path: databaseOf(folder), files: this.files };
    await runScript<number>(this.#scope, "process_stock.ts", input);
    const server = await Server.start(this.#scope, checkout, folder);
    await this.#put(server, DRIVES.small, "d{d}/file-{n}", SMALL_DRIVE);
    await this.#put(server, DRIVES.tiny, "file-{n}", TINY_DRIVE);
    await server.stop();
    return folder;
  }

  async #put({ origin }: Server, drive: string, name: string, count: number): Promise<void> {
    const target = inDrive(drive, `/files?name=${name}`);
    const load = { origin, method: "POST", target, body: STOCK_SIZE } as const;
    await sendEach(this.#scope, { ...load, connections: 64, seconds: 0 }, count);
  }
}
