import { assertEquals } from "@std/assert";
import { addressOf } from "./app_address.js";

const APP = {
  name: "viewer",
  project_id: "album",
  upstream: "http://127.0.0.1:3000",
  host: null,
  access: { enabled: true },
  created: "2026-01-01T00:00:00Z",
};

Deno.test("An application is at its path on the gate's port, or at its own host name", () => {
  const gate = { port: 8001, scheme: "https" } as const;
  const address = addressOf(APP, gate, "files.example.com");
  assertEquals(address, "https://files.example.com:8001/album/viewer/");
  const named = { ...APP, host: "viewer.example.com" };
  assertEquals(addressOf(named, gate, "files.example.com"), "https://viewer.example.com:8001/");
  assertEquals(addressOf(APP, null, "files.example.com"), undefined);
});
