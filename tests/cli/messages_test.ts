import { assert, assertEquals, assertMatch } from "@std/assert";
import { ClientWorkspace } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { assertRefused, Folder, IS_OLDEST, runCommand } from "../support/command.ts";
import { PROJECT_ID } from "../support/server.ts";
import { makeCertificates } from "../support/tls.ts";
import { unusedPort } from "../support/processes/ports.ts";

/** The rights that the tasks of the project give. */
const RIGHTS = [
  "--no-prompt",
  "--allow-net",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys",
];

/** What only those who wrote the program understand. */
const RAW = /os error|ENOENT|--allow-|statfs|readfile|\bat .*\.ts:/;

Deno.test("An unusable path or address is reported with advice.", async () => {
  await using folder = await Folder.makeOnDisk();
  const file = await folder.write("file", "");
  await Deno.mkdir(folder.at("damaged"));
  await folder.write("damaged/kvdrive.db", crypto.getRandomValues(new Uint8Array(20_000)));
  const pem = await folder.write("text.pem", "no certificate");
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const data = (name: string) => ["--data", folder.at(name)];
  const cases: [args: string[], code: number, says: RegExp][] = [
    [["serve", "--data", "/proc/x"], 1, /in \/proc\/x: \/proc cannot hold files: choose another/],
    [["serve", "--data", "/sys/x"], 1, /in \/sys\/x: \/sys cannot hold files: choose another/],
    [["project", "list", "--data", "/proc/x"], 1, /\/proc cannot hold files/],
    [["serve", "--data", file], 1, /File exists; it is a file: name a folder with --data/],
    [["serve", "--data", folder.at("damaged")], 1, /not a database; .*kvdrive restore/],
    [
      ["serve", ...data("a"), "--port", `${taken.addr.port}`],
      1,
      /another program uses the port\. .*--port/,
    ],
    [
      ["serve", ...data("b"), "--hostname", "192.0.2.1"],
      1,
      /does not have that address\. .*--hostname/,
    ],
    [
      ["serve", ...data("c"), "--tls-cert", folder.at("no"), "--tls-key", pem],
      2,
      /\/no, the file of --tls-cert: No such file/,
    ],
    [["serve", ...data("d"), "--tls-cert", pem, "--tls-key", pem], 2, /has no certificate in PEM/],
    [
      ["serve", ...data("e"), "--backup-dir", "/proc/x"],
      1,
      /\/proc\/x, the folder of --backup-dir: \/proc cannot hold files/,
    ],
  ];
  const runs = cases.map(async ([args, code, says]) => {
    const port = args.includes("--port") || args[0] !== "serve" ? [] : ["--port", "0"];
    const run = await runCommand([...args, ...port], {}, RIGHTS);
    assertRefused(run, code, says);
    assert(!RAW.test(run.stderr), run.stderr);
  });
  await Promise.all(runs);
});

Deno.test("A failure to reach the server is reported with advice.", async () => {
  await using desk = await ClientWorkspace.open();
  const { server, folder } = desk;
  const garbage = await folder.write("garbage.pem", "garbage");
  const at = (url: string, ...more: string[]) => ["ls", "--url", url, "--retry-for", "0", ...more];
  const cases: [args: string[], env: Record<string, string>, code: number, says: RegExp][] = [
    [
      at(`http://127.0.0.1:${unusedPort()}`),
      {},
      1,
      /Cannot reach .*connection refused\. Is the server running\?/,
    ],
    [at("http://nohost.invalid"), {}, 1, /there is no host of that name\. Is the server running\?/],
    [at(server.origin.replace("http:", "https:")), {}, 1, /does not speak TLS\. .*http:\/\//],
    [
      at("127.0.0.1:8000"),
      {},
      1,
      /address "127\.0\.0\.1:8000": it must look like .*http:\/\/ or https:/,
    ],
    [at(`${server.origin}/wrong`), {}, 1, /nothing at this path/],
    [
      at(server.origin),
      { KVDRIVE_KEY: `${PROJECT_ID}_${"x".repeat(32)}` },
      1,
      /does not accept the project key .*KVDRIVE_KEY/,
    ],
    [at(server.origin), { KVDRIVE_KEY: "swordfish" }, 1, /must look like <project id>_<secret>/],
    [
      ["ls", "--url", server.origin, "--retry-for", "soon"],
      {},
      2,
      /Bad value "soon" of --retry-for: it must be a time/,
    ],
    [at(server.origin, "--cacert", garbage), {}, 2, /garbage\.pem, has no certificate in PEM/],
    [
      at(server.origin, "--cacert", "none"),
      {},
      2,
      /Cannot read none, the file of --cacert: No such file/,
    ],
    [
      at(server.origin, "--key-file", "none"),
      {},
      2,
      /Cannot read none, the file of --key-file: No such file/,
    ],
    [["get", "d:missing"], {}, 1, /There is no file d:missing/],
    [
      ["backup", "nowhere/x.db", "--data", server.data],
      {},
      1,
      /nowhere.*its folder cannot be used .*Create it/,
    ],
  ];
  const runs = cases.map(async ([args, env, code, says]) => {
    const run = await desk.run(args, { env });
    const sentences = run.stderr.split("\n").filter((line) => !line.includes("unencrypted"));
    assertRefused({ ...run, stderr: sentences.join("\n") }, code, says);
    assert(!RAW.test(run.stderr) && !run.stderr.includes("swordfish"), run.stderr);
  });
  await Promise.all(runs);
  const empty = await desk.run(["ls", "never"]);
  assertRefused(empty, 1, /There is no drive "never"/);
});

Deno.test("An answer of another program is reported as such.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.folder.write("a", "bytes");
  const page = (status: number) =>
    new Response("<html>", { status, headers: { "Content-Type": "text/html" } });
  const cases: [answer: () => Response, says: RegExp][] = [
    [() => page(413), /refused the size .*client_max_body_size.*request_body max_size.*Traefik/],
    [() => page(404), /answered 404, and the answer is not from kvdrive\. Is the address right/],
    [() => page(403), /answered 403, and the answer is not from kvdrive\. Is the address right/],
    [
      () => page(502),
      /answered 502, and the answer is not from kvdrive\. Is kvdrive running behind/,
    ],
    [() => Response.json({ errors: ["Too large"] }, { status: 413 }), /Too large/],
  ];
  for (const [answer, says] of cases) {
    proxy.intercept = answer;
    const run = await desk.run(["put", "a", "d:a", "--retry-for", "0"], { url: proxy.origin });
    assertEquals(run.code, 1);
    assertMatch(run.stderr, says);
  }
  proxy.intercept = () => page(200);
  assertRefused(
    await desk.run(["ls"], { url: proxy.origin }),
    1,
    /did not answer like kvdrive\. Is the address right/,
  );
  // A wrong key stays wrong: the command ends at once, also if the server sends Retry-After.
  const errors = [
    "Too many wrong keys came from this network: send the right one, or wait 30 seconds",
  ];
  const headers = { "Retry-After": "30" };
  proxy.intercept = () => Response.json({ errors }, { status: 429, headers });
  const began = performance.now();
  const refused = await desk.run(["ls"], { url: proxy.origin });
  assertRefused(refused, 1, /does not accept the project key .*wait 30 seconds/);
  assert(performance.now() - began < 25_000);
});

Deno.test("The server warns at its start about a certificate that clients will not trust.", async () => {
  await using folder = await Folder.make();
  const [own, other] = await Promise.all([makeCertificates(), makeCertificates()]);
  const past = [new Date(Date.UTC(2020, 0)), new Date(Date.UTC(2020, 1))] as const;
  const expired = await makeCertificates(past);
  const nonsense = "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n";
  const cases: [certificate: string, key: string, says: RegExp][] = [
    [
      own.certificate,
      other.key,
      /the key does not belong to the certificate\. Check --tls-cert and/,
    ],
    [nonsense, own.key, /the certificate or its key cannot be read\. Check --tls-cert and/],
    [
      expired.certificate,
      other.key,
      /--tls-cert expired at 2020-02-01T00:00:00Z; the clock of this machine says 20\S+Z\.\n/,
    ],
  ];
  for (const [certificate, key, says] of cases) {
    const files = [await folder.write("c.pem", certificate), await folder.write("k.pem", key)];
    const [cert = "", keyFile = ""] = files;
    const args = ["serve", "--port", "0", "--data", folder.at("data")];
    const run = await runCommand([...args, "--tls-cert", cert, "--tls-key", keyFile]);
    assertEquals(run.code, 1);
    assertMatch(run.stderr, says);
  }
  const cacert = await folder.write("ca.pem", nonsense);
  const env = { KVDRIVE_URL: "https://127.0.0.1:9", KVDRIVE_KEY: `p_${"x".repeat(32)}` };
  assertRefused(
    await runCommand(["ls", "--cacert", cacert], env),
    1,
    /Cannot read a certificate in the file of --cacert/,
  );
});

Deno.test("A problem with a certificate is reported with advice.", async () => {
  await using folder = await Folder.make();
  const own = await makeCertificates();
  const HOUR = 3_600_000;
  const at = (from: number, to: number) =>
    [new Date(Date.now() + from), new Date(Date.now() + to)] as const;
  const ca = await folder.write("ca.pem", own.authority);
  const other = await folder.write("other.pem", (await makeCertificates()).authority);
  const [expired, early] = await Promise.all([
    makeCertificates(at(-2 * HOUR, -HOUR)),
    makeCertificates(at(HOUR, 2 * HOUR)),
  ]);
  const expiredCa = await folder.write("expired.pem", expired.authority);
  const earlyCa = await folder.write("early.pem", early.authority);
  const cases: [certificates: typeof own, host: string, args: string[], says: RegExp][] = [
    [
      own,
      "localhost",
      [],
      /is not trusted: no authority known to this machine signed it\. .*--cacert/,
    ],
    [
      own,
      "localhost",
      ["--cacert", other],
      /is not trusted: no authority in the file of --cacert signed it/,
    ],
    [
      expired,
      "localhost",
      ["--cacert", expiredCa],
      /has expired, or the clock of this machine \(20\S+Z\) is wrong/,
    ],
    [
      early,
      "localhost",
      ["--cacert", earlyCa],
      /not valid yet\. Is the clock of this machine \(20\S+Z\) right/,
    ],
    [own, "127.0.0.2", ["--cacert", ca], /not for that name, only for .*localhost.*--url/],
    [
      { ...own, certificate: own.authority, key: own.authorityKey },
      "localhost",
      ["--cacert", ca],
      /CA:TRUE.*CA:FALSE/,
    ],
  ];
  for (const [{ certificate, key }, host, args, says] of cases) {
    const server = Deno.serve({
      port: 0,
      hostname: "0.0.0.0",
      cert: certificate,
      key,
      onListen: () => {},
    }, () => new Response());
    const url = `https://${host}:${server.addr.port}`;
    const env = { KVDRIVE_URL: url, KVDRIVE_KEY: `p_${"x".repeat(32)}` };
    const run = await runCommand(["ls", "--retry-for", "0", ...args], env);
    await server.shutdown();
    assertRefused(run, 1, IS_OLDEST ? /certificate/ : says);
  }
});
