import { assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, Upload } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { DRIVE } from "../support/store/stocked_store.ts";

/** Backups of each store. What was replaced stays for a minute, so a store that is used for long becomes large. */
const ROUNDS = 4;
const STORES = 5;

/** Names that the load writes again and again. */
const NAMES = 6;

/** Between two requests of a client, in milliseconds. */
const PAUSE = 30;

/** Requests that run while a backup is made. */
class Load {
  requests = 0;
  #isOver = false;
  readonly #ended: Promise<unknown>;

  constructor(servers: readonly TestServer[]) {
    this.#ended = Promise.all(servers.flatMap((server, i) => {
      const drive = new Drive(server, DRIVE);
      return [this.#write(drive, i), this.#abort(drive, i)];
    }));
  }

  /** Both servers write and delete the same files. */
  async #write(drive: Drive, own: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const name = `f${(n * 5 + own) % NAMES}`;
      if (n % 3 === 2) await drive.delete([name]);
      else await drive.put(name, patternBytes(MIB, n * 2 + own + 1));
      this.requests++;
      await delay(PAUSE);
    }
  }

  /** The bytes of parts are removed as soon as their upload is aborted. */
  async #abort(drive: Drive, own: number): Promise<void> {
    const bytes = patternBytes(MIB, own + 1);
    while (!this.#isOver) {
      const upload = await Upload.start(drive, `open-${own}`);
      for (const part of [1, 2]) (await upload.send(part, bytes)).expect(200);
      (await upload.abort()).expect(200);
      this.requests++;
      await delay(PAUSE);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }
}

Deno.test("Backups beside uploads, overwrites and deletions of two servers are each of one moment.", async () => {
  for (let store = 0; store < STORES; store++) {
    await using folder = await Folder.make();
    const data = folder.at("data");
    await using first = await TestServer.start({ data });
    await using second = await TestServer.start({ data });
    const commands = new StoreCommands(data);
    for (let round = 0; round < ROUNDS; round++) {
      {
        await using load = new Load([first, second]);
        while (load.requests === 0) await delay(PAUSE);
        await commands.text("backup", folder.at("copy.db"), "--force");
      }
      const restored = new StoreCommands(folder.at("restored"));
      await restored.text("restore", folder.at("copy.db"));
      assertMatch(await restored.text("verify"), /^No problems found/);
      await Deno.remove(restored.data, { recursive: true });
    }
    assertMatch(await commands.text("verify"), /^No problems found/);
  }
});
