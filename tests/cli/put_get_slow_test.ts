import { assert, assertEquals, assertMatch } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { ClientWorkspace, someBytes } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";

const PART = 10 * 2 ** 20;

Deno.test("A file over 10 MB is uploaded in concurrent parts, each with its digest.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  const bytes = someBytes(5 * PART + 7);
  await desk.folder.write("film.mp4", bytes);
  let running = 0;
  let most = 0;
  const four = Promise.withResolvers<void>();
  proxy.intercept = async (request, pass) => {
    if (!request.url.includes("/parts?")) return await pass();
    assertMatch(request.headers.get("content-digest") ?? "", /^sha-256=:.{44}:$/);
    most = Math.max(most, ++running);
    if (running === 4) four.resolve();
    await four.promise;
    const answer = await pass();
    running--;
    return answer;
  };
  const run = await desk.run(["put", "film.mp4", "photos:"], { url: proxy.origin });
  assertEquals([run.code, run.stderr], [0, ""]);
  assertEquals([most, proxy.count("POST", /\/parts\?/)], [4, 6]);
  assert(equals(await desk.stored("photos", "film.mp4") ?? new Uint8Array(), bytes));
  await desk.text("get", "photos:film.mp4", "back.mp4");
  assert(equals(await Deno.readFile(desk.folder.at("back.mp4")), bytes));
});

Deno.test("Sizes around a part arrive as they are.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const size of [0, 1, PART, PART + 1]) {
    const bytes = someBytes(size);
    await desk.folder.write("x", bytes);
    await desk.text("put", "x", "d:x");
    assert(equals(await desk.stored("d", "x") ?? new Uint8Array(9), bytes), String(size));
  }
});

Deno.test("Pipes are files of any size.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const size of [5, PART + 5]) {
    const bytes = someBytes(size);
    const { code, stderr } = await desk.run(["put", "-", "d:piped"], { input: bytes });
    assertEquals([code, stderr], [0, ""]);
    assert(equals(await desk.stored("d", "piped") ?? new Uint8Array(), bytes));
  }
  await desk.store("d", "text", "to standard output");
  assertEquals(await desk.text("get", "d:text", "-"), "to standard output");
});
