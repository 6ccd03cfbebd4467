import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { Dav } from "../webdav/support/dav.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const ROUNDS = isFull() ? 20 : 3;
/** More rounds, with kills at once, if all of them were too late. */
const MAX_ROUNDS = ROUNDS + 20;
const FILES = 1000;

/** The longest time from the first file's move until the server is killed, in milliseconds. */
const MAX_TIME = 50;

Deno.test("A folder's move that a killed server interrupts is ended by the next one, and loses nothing.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const data = folder.at("data");
  const names = Array.from({ length: FILES }, (_, i) => String(i).padStart(4, "0"));
  let [from, to] = ["one", "two"];
  {
    await using server = await TestServer.start({ data });
    const drive = new Drive(server, "drive");
    await drive.fill(names.map((name) => `${from}/${name}`));
    await server.stop();
  }
  let interrupted = 0;
  for (let round = 0; round < ROUNDS || interrupted === 0; round++) {
    assert(round < MAX_ROUNDS, "No move was interrupted");
    {
      await using server = await TestServer.start({ data });
      const drive = new Drive(server, "drive");
      const moving = new Dav(drive).transfer("MOVE", `${from}/`, `${to}/`).catch(() => undefined);
      while ((await drive.names({ prefix: `${to}/`, limit: "1" })).length === 0) await delay(1);
      if (round < ROUNDS) await delay(random.below(MAX_TIME));
      await server.stop("SIGKILL");
      await moving;
    }
    await using server = await TestServer.start({ data });
    const drive = new Drive(server, "drive");
    const left = await drive.names({ prefix: `${from}/` });
    if (left.length > 0 && left.length < FILES) interrupted++;
    const { status } = await new Dav(drive).transfer("MOVE", `${from}/`, `${to}/`);
    assert(left.length === 0 ? status === 404 : status < 300, `${status}`);
    assertEquals(await drive.names({ prefix: `${to}/` }), names.map((name) => `${to}/${name}`));
    assertEquals(await drive.names({ prefix: `${from}/` }), []);
    await server.stop();
    [from, to] = [to, from];
  }
});
