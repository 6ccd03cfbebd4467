import { assertEquals } from "@std/assert";
import { addressOfApp } from "./applications.tsx";

Deno.test("An application is known by its host name, or by a path on the gate", () => {
  const app = { project_id: "demo", name: "viewer", host: null };
  const gate = { scheme: "http" as const, port: 8001 };
  assertEquals(addressOfApp(app, gate, "files.example"), "http://files.example:8001/demo/viewer/");
  assertEquals(
    addressOfApp({ ...app, host: "v.example" }, { scheme: "https", port: 443 }, "files.example"),
    "https://v.example/",
  );
  assertEquals(addressOfApp(app, null, "files.example"), undefined);
});
