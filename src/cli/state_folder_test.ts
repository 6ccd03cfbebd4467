import { assertEquals } from "@std/assert";
import { stateFolder } from "./state_folder.ts";

Deno.test("What is remembered is where the system keeps such things", () => {
  const home = { HOME: "/home/ann" };
  assertEquals(stateFolder(home, "linux"), "/home/ann/.local/state/kvdrive/uploads");
  assertEquals(
    stateFolder(home, "darwin"),
    "/home/ann/Library/Application Support/kvdrive/uploads",
  );
  assertEquals(stateFolder({ ...home, XDG_STATE_HOME: "/s" }, "linux"), "/s/kvdrive/uploads");
  assertEquals(stateFolder({ LOCALAPPDATA: "/l" }, "windows"), "/l/kvdrive/uploads");
  assertEquals(stateFolder({}, "linux"), undefined);
});
