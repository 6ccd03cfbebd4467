import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../terminal/output.ts";
import { stateFolder } from "./session.ts";
import { parseDrivePath } from "./drive_path.ts";

Deno.test("The first colon separates drive and name", () => {
  const places: [text: string, drive: string, name: string][] = [
    ["photos:cat.jpg", "photos", "cat.jpg"],
    ["photos:", "photos", ""],
    ["photos:pets/", "photos", "pets/"],
    ["d:/etc/passwd", "d", "/etc/passwd"],
    ["d://x", "d", "//x"],
    ["d:..", "d", ".."],
    ["d:a:b", "d", "a:b"],
  ];
  for (const [text, drive, name] of places) {
    assertEquals(parseDrivePath(text, undefined), { drive, name });
  }
  assertEquals(parseDrivePath("n:m", "a:b"), { drive: "a:b", name: "n:m" });
});

Deno.test("Invalid paths in a drive are refused", () => {
  for (const text of ["photos", "", ":a", " :a", "a/b:c", `d:${"x".repeat(1025)}`, "d: "]) {
    assertThrows(() => parseDrivePath(text, undefined), UsageError);
  }
  assertThrows(() => parseDrivePath("a", "b/c"), UsageError);
});

Deno.test("Upload states are in the state folder of the operating system", () => {
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
