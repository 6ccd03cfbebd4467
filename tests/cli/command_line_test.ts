import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { TestServer } from "../support/server.ts";

/** Every option of `serve`, with the variable that stands for it. */
const OPTIONS: readonly { flag: string; variable: string }[] = [
  { flag: "--hostname", variable: "KVDRIVE_HOSTNAME" },
  { flag: "--port", variable: "KVDRIVE_PORT" },
  { flag: "--data", variable: "KVDRIVE_DATA" },
  { flag: "--tls-cert", variable: "KVDRIVE_TLS_CERT" },
  { flag: "--tls-key", variable: "KVDRIVE_TLS_KEY" },
  { flag: "--cors-origin", variable: "KVDRIVE_CORS_ORIGIN" },
  { flag: "--upload-ttl", variable: "KVDRIVE_UPLOAD_TTL" },
  { flag: "--failed-reasons", variable: "KVDRIVE_FAILED_REASONS" },
  { flag: "--shutdown-timeout", variable: "KVDRIVE_SHUTDOWN_TIMEOUT" },
];

/** Values that an option refuses, beside those that it takes elsewhere in these tests. */
const BAD_VALUES: readonly { flag: string; values: string[] }[] = [
  { flag: "--port", values: ["abc", "70000", "65536", "-1", "1.5", "0x50", "80 "] },
  { flag: "--upload-ttl", values: ["xyz", "0", "0s", "-1h", "1 fortnight", "h"] },
  { flag: "--shutdown-timeout", values: ["soon", "-1s", "1y"] },
  { flag: "--cors-origin", values: ["example.com", "https://example.com/path", "ftp:"] },
];

Deno.test("Asking for the help of the server prints every option and its variable.", async () => {
  for (const args of [["help", "serve"], ["serve", "--help"]]) {
    const { code, stdout, stderr } = await runCommand(args);
    assertEquals([code, stderr], [0, ""], args.join(" "));
    for (const { flag, variable } of OPTIONS) {
      assert(stdout.includes(flag), `${flag} is missing in:\n${stdout}`);
      assert(stdout.includes(variable), `${variable} is missing in:\n${stdout}`);
    }
  }
});

Deno.test("The version is one line of three numbers, and of what runs it.", async () => {
  for (const args of [["version"], ["--version"]]) {
    const { code, stdout, stderr } = await runCommand(args);
    assertEquals([code, stderr], [0, ""], args.join(" "));
    assertMatch(
      stdout,
      /^kvdrive \d+\.\d+\.\d+ \((from source|packed|compiled), deno \d+\.\d+\.\d+\)\n$/,
    );
  }
});

Deno.test("Without a command the program prints a short overview and starts nothing.", async () => {
  const { code, stdout, stderr } = await runCommand([]);
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^kvdrive \d.*\n\n {2}kvdrive serve +Listen/);
  assert(stdout.split("\n").length < 20, stdout);
});

Deno.test("The help lists the commands, without the options of the server.", async () => {
  for (const args of [["help"], ["--help"]]) {
    const { code, stdout, stderr } = await runCommand(args);
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /kvdrive link create/);
    assertMatch(stdout, /"kvdrive help serve" those of the server/);
    assert(!/KVDRIVE_PORT|--idle-timeout/.test(stdout), stdout);
  }
});

Deno.test("A wrong option suggests one that is really near.", async () => {
  const cases: [args: string[], says: RegExp][] = [
    [["serve", "--host", "x"], /Did you mean --hostname\?/],
    [["serve", "--prot", "80"], /Did you mean --port\?/],
    [["link", "create", "d:x", "--expire", "7d"], /Did you mean --expires-in\?/],
    [["srve"], /Did you mean serve\?/],
    [["ls", "--bogus"], /Unknown option "--bogus": usage/],
    [["serve", "--days", "1"], /Unknown option "--days": see/],
  ];
  for (const [args, says] of cases) assertRefused(await runCommand(args), 2, says);
});

Deno.test("An unknown command or option is refused with its name.", async () => {
  const cases: { args: string[]; names: RegExp }[] = [
    { args: ["srve"], names: /srve/ },
    { args: ["serve", "now"], names: /now/ },
    { args: ["serve", "--prot", "80"], names: /--prot\b/ },
    { args: ["serve", "-x"], names: /-x\b/ },
    { args: ["serve", "--port"], names: /--port\b/ },
    { args: ["serve", "--data", ""], names: /--data\b/ },
    { args: ["serve", "--port", "0", "--port", "0"], names: /--port\b/ },
    { args: ["--port", "80"], names: /--port\b|command/ },
  ];
  for (const { args, names } of cases) {
    await using folder = await Folder.make();
    const run = await runCommand(args, { KVDRIVE_DATA: folder.at("data") });
    assertRefused(run, 2, names);
    assert(!await folder.has("data"), `A data folder was made by ${args.join(" ")}`);
  }
});

for (const { flag, values } of BAD_VALUES) {
  const variable = OPTIONS.find((option) => option.flag === flag)?.variable ?? "";
  Deno.test(`A value that ${flag} cannot take is refused and starts nothing.`, async () => {
    await using folder = await Folder.make();
    const data = folder.at("data");
    for (const value of values) {
      const args = ["serve", "--data", data, ...(flag === "--port" ? [] : ["--port", "0"])];
      assertRefused(await runCommand([...args, `${flag}=${value}`]), 2, new RegExp(`${flag}\\b`));
      const byVariable = await runCommand(args, { [variable]: value });
      assertRefused(byVariable, 2, new RegExp(`${flag}\\b|${variable}\\b`));
      assert(!await folder.has("data"), `A data folder was made for ${flag}=${value}`);
    }
  });
}

Deno.test("KVDRIVE_FAILED_REASONS is a yes or a no.", async () => {
  await using folder = await Folder.make();
  const args = ["serve", "--port", "0", "--data", folder.at("data")];
  const run = await runCommand(args, { KVDRIVE_FAILED_REASONS: "perhaps" });
  assertRefused(run, 2, /KVDRIVE_FAILED_REASONS|--failed-reasons/);
  assert(!await folder.has("data"));
});

Deno.test("A malformed KVDRIVE_PROJECT_KEY is refused without being repeated.", async () => {
  await using folder = await Folder.make();
  const secret = "0123456789abcdefghijABCDEFGHIJ";
  const keys = [
    secret,
    `_${secret}`,
    "my-project_",
    `my project_${secret}`,
    `my.project_${secret}`,
    `mÿ_${secret}`,
    `${"a".repeat(65)}_${secret}`,
  ];
  const args = ["serve", "--port", "0", "--data", folder.at("data")];
  for (const key of keys) {
    const run = await runCommand(args, { KVDRIVE_PROJECT_KEY: key });
    assertRefused(run, 2, /KVDRIVE_PROJECT_KEY/);
    assert(!run.stderr.includes(secret), run.stderr);
    assert(!await folder.has("data"), `A data folder was made for ${key}`);
  }
});

Deno.test("A secret or token of fewer than 22 characters keeps the server from starting.", async () => {
  await using folder = await Folder.make();
  const args = ["serve", "--port", "0", "--data", folder.at("data")];
  const cases: Record<string, string>[] = [
    { KVDRIVE_PROJECT_KEY: "p_swordfish" },
    { KVDRIVE_ADMIN_TOKEN: "swordfish" },
    { KVDRIVE_METRICS_TOKEN: "swordfish" },
  ];
  for (const env of cases) {
    const run = await runCommand(args, env);
    assertRefused(run, 2, new RegExp(`${Object.keys(env)[0]}.*22.*openssl rand -hex 16`));
    assert(!run.stderr.includes("swordfish"), run.stderr);
    assert(!await folder.has("data"));
  }
});

Deno.test("A secret on the command line is warned of, and never repeated.", async () => {
  await using folder = await Folder.make();
  const token = "swordfish-0123456789abcdef";
  const args = ["serve", "--port", "0", "--data", "/proc/x", "--metrics-token", token];
  const { code, stderr } = await runCommand(args);
  assertEquals(code, 1);
  assertMatch(stderr, /can read the value of --metrics-token: .*KVDRIVE_METRICS_TOKEN instead\.\n/);
  assert(!stderr.includes("swordfish"), stderr);
  for (
    const [command, ...words] of [["serve", token], ["install", token], [token], ["project", token]]
  ) {
    const run = await runCommand([command ?? "", ...words]);
    assertEquals(run.code, 2);
    assert(!/0123456789/.test(run.stderr), run.stderr);
  }
  assert(!await folder.has("data"));
});

Deno.test("A data folder that cannot be used is refused with one sentence.", async () => {
  await using folder = await Folder.make();
  const file = await folder.write("file", "not a folder");
  await Deno.mkdir(folder.at("damaged"));
  const garbage = crypto.getRandomValues(new Uint8Array(20_000));
  await folder.write("damaged/kvdrive.db", garbage);
  await Deno.mkdir(folder.at("occupied/kvdrive.db"), { recursive: true });
  for (const data of [file, `${file}/below`, folder.at("damaged"), folder.at("occupied")]) {
    const run = await runCommand(["serve", "--port", "0", "--data", data]);
    assertRefused(run, 1, new RegExp(RegExp.escape(data)));
  }
  assertEquals(await Deno.readTextFile(file), "not a folder");
  assertEquals(await Deno.readFile(folder.at("damaged/kvdrive.db")), garbage);
});

Deno.test("A port or an address that cannot be had is refused with one sentence.", async () => {
  await using server = await TestServer.start();
  await using folder = await Folder.make();
  const port = String(server.port);
  const serve = (...args: string[]) => runCommand(["serve", "--data", folder.at("d"), ...args]);
  assertRefused(await serve("--port", port), 1, new RegExp(`\\b${port}\\b`));
  // 192.0.2.1 is set aside for documentation: no machine has it.
  assertRefused(await serve("--port", "0", "--hostname", "192.0.2.1"), 1, /192\.0\.2\.1/);
});
