/**
 * Loaded before the program: makes `Deno.openKv` what it is on Deno Deploy, where the platform decides whether a database
 * is attached. The test is the platform.
 *
 * @module
 */
const platform = Deno.env.get("TEST_PLATFORM");
// deno-lint-ignore kvdrive/platform-access
const open = Deno.openKv;

if (platform !== undefined) {
  Object.defineProperty(Deno, "openKv", {
    value: async (path?: string) => {
      if (path !== undefined) throw new Error("Only the attached database can be opened here");
      const isAttached = await (await fetch(platform)).json() as boolean;
      if (!isAttached) throw new Error("no KV database is attached to this app");
      return await open(":memory:");
    },
  });
}
