import { assert, assertEquals, assertMatch } from "@std/assert";
import { TestAuthority } from "../support/acme/authority.ts";
import { HttpsServer } from "../support/acme/https_server.ts";
import { Page } from "../support/cli/docs.ts";
import { Folder } from "../support/command.ts";

/** Options whose values the test chooses: where the authority is, and ports that are free here. */
const OWN = new Set(["--acme-directory", "--acme-ca", "--apps-port"]);

/** Further options with a name that gets a certificate. */
const NAMED = new Set(["--share-host", "--s3-domain"]);

/** Returns the options of a documented command, by their names. */
function optionsIn(command: string): [name: string, value: string][] {
  const words = command.trim().split(" ").slice(2);
  const options: [string, string][] = [];
  for (let at = 0; at < words.length; at++) {
    const [name = "", next = ""] = [words[at], words[at + 1]];
    const hasValue = next !== "" && !next.startsWith("--");
    options.push([name, hasValue ? next : ""]);
    if (hasValue) at++;
  }
  return options;
}

const page = await Page.read("docs/https.md");
const commands = page.blocks("sh").filter((block) => block.startsWith("kvdrive serve"));

Deno.test("docs/https.md has commands to start a server", () => assert(commands.length >= 4));

for (const command of commands) {
  Deno.test(`A server that is started as documented has its certificates: ${command.trim()}`, async () => {
    await using folder = await Folder.make();
    await using authority = await TestAuthority.start();
    const options = optionsIn(command).filter(([name]) => !OWN.has(name));
    const domains = options.flatMap(([name, value]) => name === "--domain" ? [value] : []);
    const args = options.filter(([name]) => name !== "--domain")
      .flatMap(([name, value]) => value === "" ? [name] : [name, value]);
    await using server = await HttpsServer.start({
      authority,
      domains,
      data: folder.at("data"),
      args,
    });
    const names = [
      ...domains,
      ...options.flatMap(([name, value]) => NAMED.has(name) ? [value] : []),
    ];
    for (const name of names) {
      await server.untilCertificate(name);
      assertMatch(await server.request(name, authority.issuer.pem), /^HTTP\/1\.1 \d/);
    }
    assertEquals(authority.issued.length, names.length);
  });
}

Deno.test("The log line of docs/https.md is what the server writes", async () => {
  const [line = ""] = page.blocks("text").filter((block) => block.startsWith("error:"));
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const data = folder.at("data");
  await authority.leave();
  await using server = await HttpsServer.start({ authority, domains: ["files.example.com"], data });
  await server.until(() => server.text.includes("Cannot obtain"), "a failure");
  const shape = (text: string) =>
    text.replace(/cannot reach \S+: .*?\. Next/, "cannot reach: .Next").replace(/\d+ s, at .*/, "");
  const [, written = ""] = /(error: Cannot obtain.*)/.exec(server.text) ?? [];
  assertEquals(shape(written), shape(line.trim()));
});
