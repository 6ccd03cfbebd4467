import { assert, assertEquals } from "@std/assert";
import { administer, type NewProject, Project, PROJECTS } from "../support/admin.ts";
import { MIN_PART, patternBytes } from "../support/bytes.ts";
import { Drive, Upload } from "../support/drive.ts";
import { SharedStore, StoreGateway } from "./support.ts";

Deno.test("Writes whose answers from the store are lost get their real outcome.", async (t) => {
  await using shared = await SharedStore.start();
  await using gateway = new StoreGateway(shared.denokv.url);
  await using server = await shared.serve(gateway.url);
  const drive = new Drive(server, "photos");

  await t.step("A new file is there, and its condition held.", async () => {
    for (let i = 0; i < 6; i++) {
      await drive.put(`new ${i}`, "12345", { "If-None-Match": "*" });
    }
    assertEquals(await drive.usage(), { files: 6, bytes: 30 });
  });

  await t.step("A file is replaced only with its current ETag.", async () => {
    for (let i = 0; i < 6; i++) {
      const tag = await drive.etag("new 0");
      await drive.put("new 0", "1".repeat(5 + i), { "If-Match": tag });
      const late = { body: "x", headers: { "If-Match": tag } };
      (await drive.send("POST", "/files?name=new+0", late)).expect(412);
    }
    assertEquals(await drive.usage(), { files: 6, bytes: 35 });
  });

  await t.step("Many at once are counted exactly.", async () => {
    await drive.putAll(Array.from({ length: 100 }, (_, i) => `${100 + i}`));
    assertEquals(await drive.usage(), { files: 106, bytes: 335 });
    await drive.delete(Array.from({ length: 100 }, (_, i) => `${100 + i}`));
    assertEquals(await drive.usage(), { files: 6, bytes: 35 });
  });

  await t.step("A large file and one of parts are whole.", async () => {
    const large = patternBytes(1_000_000);
    await drive.put("large", large);
    assertEquals((await drive.get("large")).expect(200).bytes, large);
    const parts = [patternBytes(MIN_PART), patternBytes(1000)];
    for (let i = 0; i < 3; i++) {
      const upload = await Upload.start(drive, `film ${i}`);
      for (const [index, bytes] of parts.entries()) {
        (await upload.send(index + 1, bytes)).expect(200);
      }
      (await upload.complete({ "If-None-Match": "*" })).expect(200);
      assertEquals((await drive.get(`film ${i}`)).expect(200).bytes.byteLength, MIN_PART + 1000);
    }
    assertEquals(await drive.usage(), { files: 10, bytes: 1_000_035 + 3 * (MIN_PART + 1000) });
  });

  await t.step("An upload is given up once.", async () => {
    for (let i = 0; i < 4; i++) (await (await Upload.start(drive, "open")).abort()).expect(200);
  });

  await t.step("Projects, applications and keys are made once, and taken away.", async () => {
    for (let i = 0; i < 4; i++) {
      const named = await administer(server, "POST", PROJECTS, { body: { project_id: `p${i}` } });
      const { project_key } = named.expect(201).json as NewProject;
      const project = new Project(server, `p${i}`, project_key);
      const app = await project.makeProtectedApp("viewer");
      await project.makeAppKey(app, { name: "ci" });
      (await project.call("DELETE", `${app}/keys/ci`)).expect(200);
      const made = (await project.call("POST", "/keys", {})).expect(201).json as { prefix: string };
      const { keys } = (await project.call("GET", "/keys")).expect(200).json as { keys: unknown[] };
      assertEquals(keys.length, 2);
      (await project.call("DELETE", `/keys/${made.prefix}`)).expect(200);
      (await project.call("DELETE", app)).expect(200);
      (await project.call("DELETE", "")).expect(202);
    }
  });
  assert(gateway.lost > 50, `${gateway.lost} answers were lost`);
});
