import { assertEquals } from "@std/assert";
import { BackupFolder } from "./backup_folder.ts";

const HOUR = 3_600_000;
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

Deno.test("A backup is named by its second, and the newest says when the next is due", async () => {
  await withFolder(
    ["kvdrive-2026-11-21T10-00-00Z.db", "kvdrive-2026-11-20T12-00-00Z.db"],
    async (folder) => {
      assertEquals(folder.fileAt(NOON + 999), `${folder.path}/kvdrive-2026-11-21T12-00-00Z.db`);
      assertEquals(await folder.dueAt(24 * HOUR, NOON), NOON + 22 * HOUR);
    },
  );
});

Deno.test("Without a backup one is due at once, and one of the future says nothing", async () => {
  await withFolder([], async (folder) => assertEquals(await folder.dueAt(HOUR, NOON), -Infinity));
  await withFolder(["kvdrive-2030-01-01T00-00-00Z.db"], async (folder) => {
    assertEquals(await folder.dueAt(HOUR, NOON), -Infinity);
  });
});

Deno.test("Only the oldest of our own are removed", async () => {
  const ours = [1, 2, 3, 4].map((hour) => `kvdrive-2026-11-21T0${hour}-00-00Z.db`);
  const others = [
    "kvdrive.db",
    "kvdrive-2026-11-21T00-00-00Z.db.bak",
    "kvdrive-2026-99-21T00-00-00Z.db",
  ];
  await withFolder([...ours, ...others], async (folder) => {
    assertEquals((await folder.prune(2)).sort(), ours.slice(0, 2));
    const left = await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name);
    assertEquals(left.sort(), [...ours.slice(2), ...others].sort());
  });
});
