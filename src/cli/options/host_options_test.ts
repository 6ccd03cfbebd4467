import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { UsageError } from "../terminal/output.ts";
import { SERVE_OPTIONS } from "./configuration.ts";
import { readServeOptions, serverNames, serverNamesIn } from "./serve_options.ts";
import { parseOptions } from "./test_support.ts";

const DOMAIN = "s3.example.com";

const read = (args: string[], env: Record<string, string> = {}) =>
  readServeOptions(parseOptions(SERVE_OPTIONS, args), env);

const refusal = (args: string[]) => assertThrows(() => read(args), UsageError).message;

Deno.test("Links cannot share the host name of everything else", () => {
  const args = ["--public-url", "https://files.example.com", "--share-host", "Files.example.com"];
  assertStringIncludes(refusal(args), "--public-url and --share-host have the same host name");
  const names = serverNames(read([...args.slice(0, 3), "share.example.com"]));
  assertEquals(names.own, ["files.example.com", "share.example.com"]);
});

Deno.test("S3 is off unless it has a port or a host name", () => {
  const { s3Port, s3Domain } = read([]);
  assertEquals([s3Port, s3Domain], ["off", undefined]);
});

Deno.test("The port of S3 is a port or off", () => {
  for (const [text, port] of [["0", 0], ["9000", 9000], ["off", "off"]] as const) {
    assertEquals(read(["--s3-port", text]).s3Port, port);
    assertEquals(read([], { KVDRIVE_S3_PORT: text }).s3Port, port);
  }
  assertEquals(read(["--s3-port", "off"], { KVDRIVE_S3_PORT: "9000" }).s3Port, "off");
  for (const text of ["65536", "-1", "auto", "9000.5", "on"]) {
    assertStringIncludes(refusal([`--s3-port=${text}`]), `Bad value "${text}" of --s3-port`);
  }
});

Deno.test("The domain of S3 is a host name", () => {
  for (const text of [DOMAIN, "S3.Example.com"]) {
    assertEquals(read(["--s3-domain", text]).s3Domain, DOMAIN);
    assertEquals(read([], { KVDRIVE_S3_DOMAIN: text }).s3Domain, DOMAIN);
  }
  for (
    const text of ["*.s3.example.com", "s3.example.com:9000", "https://s3", "127.0.0.1", "a,b"]
  ) {
    assertStringIncludes(refusal([`--s3-domain=${text}`]), `Bad value "${text}" of --s3-domain`);
  }
});

Deno.test("No other part of the server can have a name in the domain of S3", () => {
  for (const name of [DOMAIN, `photos.${DOMAIN}`]) {
    for (
      const [option, value] of [
        ["--public-url", `https://${name}:8443`],
        ["--share-host", name],
        ["--apps-host", `apps.example.com,${name}`],
        ["--hostname", name],
      ] as const
    ) {
      const message = refusal(["--s3-domain", DOMAIN, option, value]);
      assertStringIncludes(message, `${option} and --s3-domain have the same host name`);
    }
  }
  const others = ["--public-url", "https://example.com", "--share-host", "xs3.example.com"];
  assertEquals(read(["--s3-domain", DOMAIN, ...others]).publicUrl, "https://example.com");
});

Deno.test("No application can have a name in the domain of S3", () => {
  const options = read(["--s3-domain", DOMAIN, "--public-url", "https://files.example.com"]);
  const wanted = { own: ["files.example.com"], gate: [], zones: [DOMAIN] };
  assertEquals(serverNames(options), wanted);
  const env = { KVDRIVE_S3_DOMAIN: DOMAIN, KVDRIVE_PUBLIC_URL: "https://files.example.com" };
  assertEquals(serverNamesIn(env), wanted);
  const onDeploy = serverNames(options, { isOnDeploy: true });
  assertEquals(onDeploy.zones, ["deno.net", "deno.dev", DOMAIN]);
});

Deno.test("With certificates the server has a host name besides the domain of S3", () => {
  const args = ["--s3-domain", DOMAIN, "--domain", `${DOMAIN},photos.${DOMAIN}`];
  assertStringIncludes(refusal(args), "All host names of --domain belong to --s3-domain");
  const { publicUrl } = read([...args, "--domain", "files.example.com"]);
  assertEquals(publicUrl, "https://files.example.com");
});
