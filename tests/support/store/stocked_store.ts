import { patternBytes } from "../bytes.ts";
import { Folder } from "../command.ts";
import { Drive, Upload, uploadParts } from "../drive.ts";
import { PROJECT_ID, TestServer } from "../server.ts";
import { StoreCommands } from "./commands.ts";

export const DRIVE = "stock";
/** What a stocked store has, by name. */
export const FILES = {
  small: patternBytes(3000, 1),
  large: patternBytes(700_000, 2),
  parts: patternBytes(10_000_001, 3),
} as const;
const HALF = 5_000_001;

/** The store that is copied for each test, made once for a test file. */
let original: Promise<Folder> | undefined;

/**
 * A store with files of each kind, an open upload, and an application with a key; no server runs on it.
 *
 * @param folder Where it is made; a new folder unless given.
 */
export async function makeStock(folder?: Folder): Promise<Folder> {
  original ??= makeOriginal();
  return await copyStock(await original, folder);
}

async function makeOriginal(): Promise<Folder> {
  const folder = await Folder.make();
  addEventListener("unload", () => Deno.removeSync(folder.path, { recursive: true }));
  await using server = await TestServer.start({ data: folder.at("data") });
  const drive = new Drive(server, DRIVE);
  await drive.put("small", FILES.small);
  await drive.put("large", FILES.large);
  await uploadParts(drive, "parts", [FILES.parts.slice(0, HALF), FILES.parts.slice(HALF)]);
  const open = await Upload.start(drive, "open");
  (await open.send(1, FILES.large)).expect(200);
  const commands = new StoreCommands(folder.at("data"));
  const app = ["app", "create", PROJECT_ID, "blog", "--upstream", "http://127.0.0.1:3000"];
  await commands.text(...app, "--host", "blog.example.com");
  await commands.text("access", "on", PROJECT_ID, "blog");
  await commands.text("app-key", "create", PROJECT_ID, "blog", "-n", "agent");
  await server.stop();
  return folder;
}

/** A copy of a store that no server runs on. */
export async function copyStock(stock: Folder, folder?: Folder): Promise<Folder> {
  folder ??= await Folder.make();
  await Deno.mkdir(folder.at("data"));
  for await (const { name } of Deno.readDir(stock.at("data"))) {
    // A server creates its ballast when it starts.
    if (name.startsWith("kvdrive.ballast-")) continue;
    await Deno.copyFile(stock.at(`data/${name}`), folder.at(`data/${name}`));
  }
  return folder;
}
