import { assertEquals } from "@std/assert";
import { HOUR } from "../../rules/units.ts";
import { BackupFolder } from "./backup_folder.ts";

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0);

async function withFolder(names: readonly string[], test: (folder: BackupFolder) => Promise<void>) {
  const path = await Deno.makeTempDir();
  try {
    for (const name of names) await Deno.writeTextFile(`${path}/${name}`, "");
    await test(new BackupFolder(path));
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

const DATABASE = "SQLite format 3\0…";

const named = (time: string) => `kvdrive-${time}Z.db`;

Deno.test("A backup is named by its second, or the next free one", async () => {
  await withFolder([named("2026-11-21T10-00-00"), named("2026-11-21T10-00-01")], async (folder) => {
    assertEquals(await folder.fileAt(NOON + 999), `${folder.path}/${named("2026-11-21T12-00-00")}`);
    const used = NOON - 2 * HOUR;
    assertEquals(await folder.fileAt(used), `${folder.path}/${named("2026-11-21T10-00-02")}`);
  });
});

Deno.test("The newest backup is a database and not dated in the future", async () => {
  const names = ["2026-11-21T10-00-00", "2026-11-20T12-00-00", "2030-01-01T00-00-00"].map(named);
  await withFolder(names, async (folder) => {
    assertEquals(await folder.newest(NOON), undefined);
    for (const name of names) await Deno.writeTextFile(`${folder.path}/${name}`, DATABASE);
    assertEquals(await folder.newest(NOON), NOON - 2 * HOUR);
    await Deno.truncate(`${folder.path}/${names[0]}`, 10);
    assertEquals(await folder.newest(NOON), NOON - 24 * HOUR);
    assertEquals(await folder.newest(Date.UTC(2031, 0, 1)), Date.UTC(2030, 0, 1));
  });
});

Deno.test("Pruning removes only the oldest of our own files", async () => {
  const ours = [1, 2, 3, 4].map((hour) => named(`2026-11-21T0${hour}-00-00`));
  const others = [
    "kvdrive.db",
    `${named("2026-11-21T00-00-00")}.bak`,
    named("2026-99-21T00-00-00"),
  ];
  await withFolder([...ours, ...others], async (folder) => {
    assertEquals((await folder.prune(2, `${folder.path}/${ours[3]}`)).sort(), ours.slice(0, 2));
    const left = await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name);
    assertEquals(left.sort(), [...ours.slice(2), ...others].sort());
  });
});

Deno.test("Pruning keeps the backup just made, and does not count files dated in the future", async () => {
  const made = named("2026-11-21T12-00-00");
  const old = named("2026-11-20T12-00-00");
  const future = [named("2026-11-21T13-00-00"), named("2036-11-21T12-00-00")];
  await withFolder([old, made, ...future], async (folder) => {
    assertEquals(await folder.prune(1, `${folder.path}/${made}`), [old]);
    assertEquals(await folder.prune(1, `${folder.path}/${made}`), []);
    const left = await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name);
    assertEquals(left.sort(), [made, ...future].sort());
  });
});
