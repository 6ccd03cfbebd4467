import { assert, assertEquals, assertMatch } from "@std/assert";
import { administer, ADMINISTERED, administrator, PROJECTS } from "../../support/admin.ts";
import { StoreCommands } from "../../support/store/commands.ts";
import { Drive } from "../../support/drive.ts";
import { makeLink, visit } from "../../support/sharing/links.ts";
import { rawRequest } from "../../support/raw.ts";
import { PROJECT_ID, TestServer } from "../../support/server.ts";

const HOST = "share.example.com";

const NOT_FOUND = /^HTTP\/1.1 404 [^]*"errors"/;

/** The whole answer under a host name. (The description does not say that every path is 404 under another one.) */
async function textOf(port: number, path: string, host: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const request = rawRequest("GET", path, { Host: host, "X-Api-Key": null });
  await connection.write(new TextEncoder().encode(request));
  return await new Response(connection.readable).text();
}

Deno.test("With a host name for links, they are there only, and nothing else is.", async () => {
  const args = ["--share-host", HOST, "--public-url", "https://files.example.com:8443"];
  await using server = await TestServer.start({ ...ADMINISTERED, args });
  const drive = new Drive(server, "d");
  await drive.put("a", "inside");
  const { url } = await makeLink(drive, { name: "a" });
  assert(url.startsWith(`https://${HOST}:8443/s/`), url);
  const { pathname } = new URL(url);
  const get = async (path: string, host: string) => await textOf(server.port, path, host);
  for (const host of [HOST, "Share.Example.com.", `${HOST}:8000`]) {
    assertMatch(await get(pathname, host), /^HTTP\/1.1 200 [^]*\r\n\r\ninside$/);
  }
  for (const host of ["files.example.com", `127.0.0.1:${server.port}`]) {
    assertMatch(await get(pathname, host), NOT_FOUND);
  }
  const elsewhere = ["/", "/healthz", "/openapi.json", "/admin/v1/projects", `/v1/${PROJECT_ID}`];
  for (const path of elsewhere) assertMatch(await get(path, HOST), NOT_FOUND);
  const claimed = await administer(server, "POST", `${PROJECTS}/${PROJECT_ID}/apps`, {
    as: administrator,
    body: { name: "web", host: HOST },
  });
  claimed.expect(400);
});

Deno.test("The address of a link is the public one, or else that of the request.", async () => {
  await using plain = await TestServer.start();
  const drive = new Drive(plain, "d");
  const link = await makeLink(drive, { name: "a" });
  assert(link.url.startsWith("http://127.0.0.1:"), link.url);
  const headers = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "files.example.com" };
  const answer = await drive.send("GET", "/links", { headers });
  const { links } = answer.expect(200).json as { links: { url: string }[] };
  assert(links[0]?.url.startsWith("https://files.example.com/s/"), links[0]?.url);
  await using known = await TestServer.start({ args: ["--public-url", "https://kv.example.com"] });
  const { url } = await makeLink(new Drive(known, "d"), { name: "a" });
  assert(url.startsWith("https://kv.example.com/s/"), url);
});

Deno.test("A new signing key ends all links of a running server within 5 seconds.", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "d");
  await drive.put("a", "x");
  const { url } = await makeLink(drive, { name: "a" });
  (await visit(url)).expect(200);
  const commands = new StoreCommands(server.data);
  await commands.refused(2, /without a terminal/, "link", "rotate-key");
  const text = await commands.text("link", "rotate-key", "--yes");
  assert(text.includes("All links are revoked"), text);
  const end = performance.now() + 5500;
  let { status } = await visit(url);
  while (status === 200 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    ({ status } = await visit(url));
  }
  assertEquals(status, 404);
  const again = await makeLink(drive, { name: "a" });
  (await visit(again.url)).expect(200);
});
