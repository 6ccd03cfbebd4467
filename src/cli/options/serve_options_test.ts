import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { TrustedProxies } from "../../http/network/client_address.ts";
import { AllowedUpstreams } from "../../http/network/upstream_rules.ts";
import { DEFAULT_IDLE_TIMEOUT, DEFAULT_UPLOAD_TTL } from "../../store/store.ts";
import { DEFAULT_MAX_OPEN_UPLOADS } from "../../store/quotas/quotas.ts";
import { UsageError } from "../terminal/output.ts";
import { variableOf } from "./arguments.ts";
import { SERVE_OPTIONS } from "./configuration.ts";
import { type OptionCase, parseOptions } from "./test_support.ts";
import {
  DEFAULT_BACKUP_EVERY,
  DEFAULT_DISK_RESERVE,
  readServeOptions,
  type ServeOptions,
} from "./serve_options.ts";

const parseServeOptions = (args: string[], env: Record<string, string>): ServeOptions =>
  readServeOptions(parseOptions(SERVE_OPTIONS, args), env);

const DEFAULTS: ServeOptions = {
  processes: 1,
  hostname: "127.0.0.1",
  port: 8000,
  appsPort: undefined,
  appsHosts: [],
  appsTimeout: 60_000,
  appsIdleTimeout: 600_000,
  allowedUpstreams: AllowedUpstreams.none,
  allowedWebhooks: AllowedUpstreams.none,
  s3Port: "off",
  webdav: true,
  webdavPlain: false,
  webdavNoJunk: false,
  publicUrl: undefined,
  shareHost: undefined,
  s3Domain: undefined,
  data: "./data",
  kv: undefined,
  s3SecretFile: undefined,
  acme: undefined,
  hsts: false,
  tlsCert: undefined,
  tlsKey: undefined,
  corsOrigins: "*",
  trustedProxies: undefined,
  trashDays: 0,
  uploadTtl: 86_400_000,
  failedReasons: false,
  idleTimeout: 60_000,
  maxUploads: 64,
  memoryBudget: undefined,
  maxOpenUploads: 1000,
  minUploadRate: 1024,
  diskReserve: 67_108_864,
  shutdownTimeout: 10_000,
  log: undefined,
  json: false,
  metricsToken: undefined,
  backups: undefined,
  snapshots: undefined,
  scrubEvery: undefined,
  reads: "mapped",
};

const TIMES = ["0", "-5s", "1 h", "1h30m", "soon", "25d"];

const METRICS_TOKEN = "0123456789abcdefghijAB";

const CASES: readonly OptionCase[] = [
  {
    name: "scrub-every",
    field: "scrubEvery",
    good: [["30d", 2_592_000_000], ["off", "off"], ["0", "off"], ["500ms", 500]],
    bad: ["-5s", "1 h", "soon", "367d"],
  },
  { name: "webdav", field: "webdav", good: [["off", false], ["on", true]], bad: ["ON", "1", "no"] },
  { name: "hostname", field: "hostname", good: [["::1", "::1"], ["0.0.0.0", "0.0.0.0"]], bad: [] },
  {
    name: "port",
    field: "port",
    good: [["0", 0], ["65535", 65_535], ["8080", 8080]],
    bad: ["65536", "-1", "80x", "1e3", "0x50", "8000.5", " 80", "http"],
  },
  {
    name: "apps-port",
    field: "appsPort",
    good: [["auto", 0], ["0", "off"], ["8080", 8080]],
    bad: ["65536", "-1", "off", "8000.5", "Auto"],
  },
  {
    name: "apps-host",
    field: "appsHosts",
    good: [
      ["apps.example.com", ["apps.example.com"]],
      ["A.example.com, b.example.com", ["a.example.com", "b.example.com"]],
    ],
    bad: ["a.example.com:80", "https://a.example.com", "127.0.0.1", "a.example.com.", ",", "a_b"],
  },
  { name: "processes", field: "processes", good: [["1", 1], ["64", 64]], bad: ["0", "65", "x"] },
  {
    name: "public-url",
    field: "publicUrl",
    good: [
      ["https://files.example.com", "https://files.example.com"],
      ["HTTP://Files.example.com:8000/", "http://files.example.com:8000"],
    ],
    bad: ["files.example.com", "ftp://a", "https://a/b", "https://a?b", "https://u@a", "https://"],
  },
  {
    name: "share-host",
    field: "shareHost",
    good: [["Share.example.com", "share.example.com"], ["a.example", "a.example"]],
    bad: ["share.example.com:443", "https://share.example.com", "127.0.0.1", "a.example,b.example"],
  },
  {
    name: "apps-timeout",
    field: "appsTimeout",
    good: [["500ms", 500], ["2m", 120_000]],
    bad: TIMES,
  },
  {
    name: "apps-idle-timeout",
    field: "appsIdleTimeout",
    good: [["500ms", 500], ["1h", 3_600_000]],
    bad: TIMES,
  },
  { name: "data", field: "data", good: [["/srv/kv", "/srv/kv"], ["a b", "a b"]], bad: [] },
  {
    name: "cors-origin",
    field: "corsOrigins",
    good: [
      ["https://a.example", ["https://a.example"]],
      ["https://a.example, http://b:8080", ["https://a.example", "http://b:8080"]],
      ["*", "*"],
    ],
    bad: [
      "a.example",
      "https://a.example/",
      "https://A.example",
      "*,https://a.example",
      ",",
      "null",
    ],
  },
  {
    name: "trusted-proxy",
    field: "trustedProxies",
    good: ["127.0.0.1", "10.0.0.0/8, ::1"].map((text) => [text, TrustedProxies.parse(text)]),
    bad: ["localhost", "10.0.0.0/33", "10.0.0.1,", "*", "10.0.0.1:80"],
  },
  { name: "trash-days", field: "trashDays", good: [["0", 0], ["365", 365]], bad: ["-1", "366"] },
  {
    name: "upload-ttl",
    field: "uploadTtl",
    good: [["90s", 90_000], ["7d", 604_800_000], ["30", 30_000]],
    bad: TIMES,
  },
  {
    name: "idle-timeout",
    field: "idleTimeout",
    good: [["500ms", 500], ["2m", 120_000]],
    bad: TIMES,
  },
  {
    name: "max-uploads",
    field: "maxUploads",
    good: [["1", 1], ["1000", 1000]],
    bad: ["0", "-1", "1.5", "many", "99999999999999999999"],
  },
  {
    name: "memory-budget",
    field: "memoryBudget",
    good: [["64MiB", 67_108_864], ["1gb", 1_000_000_000], ["134217728", 134_217_728]],
    bad: ["63MiB", "0", "-1", "lots", "25%", "99999999999999999999"],
  },
  {
    name: "max-open-uploads",
    field: "maxOpenUploads",
    good: [["1", 1], ["100000", 100_000]],
    bad: ["0", "-1", "1.5", "many"],
  },
  {
    name: "min-upload-rate",
    field: "minUploadRate",
    good: [["0", 0], ["65536", 65_536], ["64KiB", 65_536], ["1kB", 1000]],
    bad: ["-1", "1.5", "1k"],
  },
  {
    name: "disk-reserve",
    field: "diskReserve",
    good: [["0", 0], ["1048576", 1_048_576], ["1GB", 1e9], ["1.5GiB", 1.5 * 2 ** 30]],
    bad: ["-1", "1.5", "1G", "99999999999999999999"],
  },
  {
    name: "shutdown-timeout",
    field: "shutdownTimeout",
    good: [["500ms", 500], ["1m", 60_000]],
    bad: TIMES,
  },
  {
    name: "log",
    field: "log",
    good: [["json", "json"], ["text", "text"], ["off", "off"]],
    bad: ["JSON", "none", "1"],
  },
  {
    name: "metrics-token",
    field: "metricsToken",
    good: [METRICS_TOKEN, `${METRICS_TOKEN}!`].map((text) => [text, text]),
    bad: [],
  },
];

function assertUsage(args: string[], env: Record<string, string>, ...parts: string[]): void {
  const about = JSON.stringify([args, env]);
  const { message } = assertThrows(() => parseServeOptions(args, env), UsageError, "", about);
  for (const part of parts) assertStringIncludes(message, part, about);
}

Deno.test("Options that are not given have their defaults", () => {
  assertEquals(parseServeOptions([], {}), DEFAULTS);
  const empty = Object.fromEntries(SERVE_OPTIONS.map(({ name }) => [variableOf(name), ""]));
  assertEquals(parseServeOptions([], empty), DEFAULTS);
  assertEquals(
    parseServeOptions([], { PORT: "1", KVDRIVE_OTHER: "1", KVDRIVE_port: "1" }),
    DEFAULTS,
  );
});

Deno.test("The defaults of the table are the defaults in use", () => {
  for (const { name, default: text } of SERVE_OPTIONS) {
    if (text === undefined || ["every", "keep", "backup-every"].includes(name)) continue;
    assertEquals(parseServeOptions([`--${name}`, text], {}), DEFAULTS, name);
  }
  const found = parseServeOptions(["--backup-dir", "b"], {});
  const { diskReserve, uploadTtl, idleTimeout, maxOpenUploads } = found;
  assertEquals(found.backups, { folder: "b", every: DEFAULT_BACKUP_EVERY, keep: 7 });
  assertEquals([diskReserve, uploadTtl, idleTimeout, maxOpenUploads], [
    DEFAULT_DISK_RESERVE,
    DEFAULT_UPLOAD_TTL,
    DEFAULT_IDLE_TIMEOUT,
    DEFAULT_MAX_OPEN_UPLOADS,
  ]);
});

Deno.test("An option is read from the command line or its variable, and the command line takes precedence", () => {
  for (const { name, field, good } of CASES) {
    const variable = variableOf(name);
    for (const [text, value] of good) {
      const wanted = { ...DEFAULTS, [field]: value };
      assertEquals(parseServeOptions([`--${name}=${text}`], {}), wanted, text);
      assertEquals(parseServeOptions([`--${name}`, text], {}), wanted, text);
      assertEquals(parseServeOptions([], { [variable]: text }), wanted, text);
    }
    const [[flag, value], [other]] = good as [readonly [string, unknown], readonly [string]];
    const found = parseServeOptions([`--${name}`, flag], { [variable]: other });
    assertEquals(found, { ...DEFAULTS, [field]: value }, name);
  }
});

Deno.test("Proxies of the command line replace those of the variable", () => {
  const env = { KVDRIVE_TRUSTED_PROXY: "10.0.0.1" };
  const { trustedProxies } = parseServeOptions(["--trusted-proxy", "10.0.0.2,::1"], env);
  const trusted = ["10.0.0.1", "10.0.0.2", "::1"].map((address) => trustedProxies?.has(address));
  assertEquals(trusted, [false, true, true]);
});

Deno.test("An invalid value is reported with its source", () => {
  for (const { name, bad } of CASES) {
    for (const text of bad) {
      assertUsage([`--${name}=${text}`], {}, `Bad value "${text}" of --${name}: it must be`);
      const wanted = `Bad value "${text}" of ${variableOf(name)}: it must be`;
      assertUsage([], { [variableOf(name)]: text }, wanted);
    }
  }
});

Deno.test("An invalid variable is ignored if the option is given", () => {
  assertEquals(parseServeOptions(["--port=1"], { KVDRIVE_PORT: "x" }).port, 1);
});

Deno.test("An option without its value is refused", () => {
  for (const { name, value } of SERVE_OPTIONS) {
    if (value === undefined) continue;
    assertUsage([`--${name}=`], {}, `The option --${name} needs a value, ${value}`);
    for (const args of [[`--${name}`], [`--${name}`, "--failed-reasons"]]) {
      assertUsage(args, {}, `--${name}`, "kvdrive help");
    }
  }
});

Deno.test("A token for metrics that is too short or not a header value is refused, and not repeated", () => {
  for (
    const text of [
      METRICS_TOKEN.slice(1),
      `${METRICS_TOKEN} b`,
      `${METRICS_TOKEN}é`,
      "x".repeat(257),
    ]
  ) {
    const wanted = "Bad value of KVDRIVE_METRICS_TOKEN: it must be 22 to 256 ASCII characters";
    assertUsage([], { KVDRIVE_METRICS_TOKEN: text }, wanted);
    const { message } = assertThrows(
      () => parseServeOptions([`--metrics-token=${text}`], {}),
      UsageError,
    );
    assertEquals(message.includes(text), false);
  }
});

Deno.test("A certificate without its key is refused", () => {
  const both = { ...DEFAULTS, tlsCert: "c.pem", tlsKey: "k.pem" };
  const env = { KVDRIVE_TLS_CERT: "c.pem", KVDRIVE_TLS_KEY: "k.pem" };
  assertEquals(parseServeOptions(["--tls-cert", "c.pem", "--tls-key", "k.pem"], {}), both);
  assertEquals(parseServeOptions([], env), both);
  assertEquals(parseServeOptions(["--tls-key", "k.pem"], { KVDRIVE_TLS_CERT: "c.pem" }), both);
  assertEquals(parseServeOptions(["--tls-key", "k2.pem"], env), { ...both, tlsKey: "k2.pem" });
  assertUsage(["--tls-cert", "c.pem"], {}, "go together");
  assertUsage([], { KVDRIVE_TLS_KEY: "k.pem" }, "go together");
});

Deno.test("The URL of a shared store is validated, and not repeated if invalid", () => {
  for (const url of ["http://127.0.0.1:4512", "https://kv.example.com/a"]) {
    assertEquals(parseServeOptions(["--kv", url], {}).kv, url);
    assertEquals(parseServeOptions([], { KVDRIVE_KV: url }).kv, url);
    assertEquals(parseServeOptions(["--kv", url, "--data", "d"], {}).kv, url);
    assertEquals(parseServeOptions(["--data", "d"], { KVDRIVE_KV: url }).kv, undefined);
  }
  for (const text of ["secret.example.com", "ftp://secret", "https://me:secret@kv.example.com"]) {
    for (
      const [args, env, source] of [[["--kv", text], {}, "--kv"], [
        [],
        { KVDRIVE_KV: text },
        "KVDRIVE_KV",
      ]] as const
    ) {
      const error = assertThrows(() => parseServeOptions([...args], env), UsageError);
      assertStringIncludes(error.message, `Bad value of ${source}: it must be a URL like`);
      assertEquals(error.message.includes("secret"), false);
    }
  }
});

Deno.test("A switch is on as a bare option, and follows its variable", () => {
  assertEquals(parseServeOptions(["--failed-reasons"], {}).failedReasons, true);
  assertEquals(
    parseServeOptions(["--failed-reasons"], { KVDRIVE_FAILED_REASONS: "0" }).failedReasons,
    true,
  );
  const cases = [["1", true], ["true", true], ["0", false], ["false", false]] as const;
  for (const [text, value] of cases) {
    assertEquals(parseServeOptions([], { KVDRIVE_FAILED_REASONS: text }).failedReasons, value);
  }
  for (const text of ["yes", "2", "TRUE", " 1"]) {
    assertUsage([], { KVDRIVE_FAILED_REASONS: text }, `Bad value "${text}"`, "1, 0, true or false");
  }
});

Deno.test("Names of object members are invalid values of a switch", () => {
  for (const text of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    assertUsage([], { KVDRIVE_FAILED_REASONS: text }, `Bad value "${text}"`);
  }
});

Deno.test("A switch takes no value on the command line", () => {
  for (const text of ["0", "1", "false", "true", "banana", ""]) {
    assertUsage([`--failed-reasons=${text}`], {}, "--failed-reasons");
  }
});

Deno.test("An option given twice is refused", () => {
  assertUsage(["--port", "1", "--port", "2"], {}, "The option --port is given more than once");
  assertUsage(["--port=1", "--port=1"], {}, "The option --port is given more than once");
  const twice = ["--failed-reasons", "--failed-reasons"];
  assertUsage(twice, {}, "The option --failed-reasons is given more than once");
});

Deno.test("Unknown options and arguments are refused", () => {
  const others = [
    "--prot",
    "-p",
    "extra",
    "--no-port",
    "--no-failed-reasons",
    "--port.x=1",
    "--__proto__=1",
    "--constructor",
    "--PORT=1",
  ];
  for (const other of others) {
    assertUsage([other], {}, "Unknown", other.replace(/[.=].*/, ""), "kvdrive help");
    assertUsage(["--port=1", other], {}, "Unknown", "kvdrive help");
  }
  for (const args of [["--port", "1", "2"], ["--", "2"], ["--port=1", "--", "2"]]) {
    assertUsage(args, {}, 'Unknown argument "2"');
  }
});
