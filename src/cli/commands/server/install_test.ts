import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import config from "../../../../deno.json" with { type: "json" };
import { type Build, currentBuild, RUNTIME_OPTIONS } from "../../../version.ts";
import { UsageError } from "../../terminal/output.ts";
import { cachedFiles, systemdUnit, unitAdvice, unitSettings } from "./install.ts";

const COMPILED: Build = { kind: "compiled", command: ["/usr/local/bin/kvdrive"] };
const PACKED: Build = { kind: "packed", command: ["/opt/my files/kvdrive-packed"] };

function unit(options: Record<string, string> = {}, build = COMPILED): string {
  return systemdUnit(unitSettings(new Map(Object.entries(options)), build));
}

Deno.test("The tasks grant the same permissions as the executables", () => {
  const granted = `deno run ${RUNTIME_OPTIONS.join(" ")}`;
  assertStringIncludes(config.tasks.start.command, `${granted} main.ts serve`);
  assertStringIncludes(config.tasks.kvdrive.command, `${granted} "$ROOT/main.ts"`);
});

Deno.test("A build is recognized from source, or as a packed file", () => {
  const { kind, command } = currentBuild({});
  assertEquals([kind, command[0], command[1]], ["from source", Deno.execPath(), "run"]);
  assertEquals(currentBuild({ KVDRIVE_PACKED: "" }).kind, "from source");
  const packed: Build = { kind: "packed", command: ["/bin/k"] };
  assertEquals(currentBuild({ KVDRIVE_PACKED: "/bin/k" }), packed);
  assertEquals(currentBuild({ KVDRIVE_LAUNCHER: "/bin/k" }), { ...packed, kind: "from source" });
});

Deno.test("A unit starts the server with the given options, and absolute paths", () => {
  const text = unit({ port: "9000", "tls-cert": "a.pem", "tls-key": "/k.pem", user: "files" });
  const here = Deno.cwd();
  assertStringIncludes(
    text,
    `ExecStart=:/usr/local/bin/kvdrive serve --port 9000 --data /var/lib/kvdrive --tls-cert ${here}/a.pem --tls-key /k.pem\n`,
  );
  assertStringIncludes(text, "User=files\nGroup=files\n");
  assert(!text.includes("CacheDirectory"), text);
});

Deno.test("A program in a cache is found, and one elsewhere is not", () => {
  const none: [undefined, undefined] = [undefined, undefined];
  const npx = "/root/.npm/_npx/0a/node_modules/kvdrive/bin/kvdrive";
  const cases: [Build["command"], Record<string, string>, ReturnType<typeof cachedFiles>][] = [
    [["/usr/local/bin/kvdrive"], {}, none],
    [["/usr/local/bin/kvdrive"], { XDG_CACHE_HOME: "", DENO_DIR: "/usr/local/b" }, none],
    [["/home/me/cache/kvdrive"], {}, none],
    [[npx], {}, [npx, undefined]],
    [["/home/me/.cache/kvdrive"], {}, ["/home/me/.cache/kvdrive", undefined]],
    [["/big/c/kvdrive"], { XDG_CACHE_HOME: "/big/c" }, ["/big/c/kvdrive", undefined]],
    [["/root/.npm/deno", "run", "/srv/main.ts"], {}, [undefined, "/root/.npm/deno"]],
    [["/usr/bin/deno", "run", "/a/.cache/main.ts"], {}, ["/a/.cache/main.ts", undefined]],
  ];
  for (const [command, env, found] of cases) {
    assertEquals(cachedFiles({ kind: "from source", command }, env), found, command.join(" "));
  }
});

Deno.test("A unit of a server with a host name may use the ports of http and https", () => {
  const text = unit({ domain: "a.example.com,b.example.com", "acme-ca": "ca.pem" });
  const options = `--domain a.example.com,b.example.com --acme-ca ${Deno.cwd()}/ca.pem\n`;
  assertStringIncludes(text, `serve --data /var/lib/kvdrive ${options}`);
  assertStringIncludes(text, "AmbientCapabilities=CAP_NET_BIND_SERVICE");
  const high = { domain: "a.example.com", "https-port": "8443", "http-port": "8080" };
  assertStringIncludes(unit(high), "CapabilityBoundingSet=\n");
});

Deno.test("Characters that systemd interprets are escaped in paths", () => {
  const text = unit({ data: '/srv/100% "my" $data\\' }, PACKED);
  const data = String.raw`"/srv/100%% \"my\" $data\\"`;
  assertStringIncludes(text, `ExecStart=:"/opt/my files/kvdrive-packed" serve --data ${data}\n`);
  assertStringIncludes(text, `ReadWritePaths=${data}\n`);
  assertStringIncludes(text, "Environment=KVDRIVE_RUNTIME_DIR=/var/cache/kvdrive\n");
  assertThrows(() => unit({ data: "/srv/a\nUser=root" }), UsageError, "control character");
});

Deno.test("Only the data folder is writable, and systemd creates it below /var/lib", () => {
  const text = unit();
  assertStringIncludes(text, "ReadWritePaths=/var/lib/kvdrive\n");
  assertStringIncludes(text, "StateDirectory=kvdrive\n");
  assertStringIncludes(text, "ProtectSystem=strict\n");
  assertStringIncludes(text, "ProtectHome=yes\n");
  const other = unit({ data: "/home/me/files" });
  assertStringIncludes(other, "ProtectHome=read-only\n");
  assert(!other.includes("StateDirectory"), other);
  for (const data of ["/tmp", "/tmp/files", "/var/tmp/files"]) {
    assertThrows(() => unit({ data }), UsageError, "temporary");
  }
});

Deno.test("A unit waits longer than the server, and allows a low port only if needed", () => {
  assertStringIncludes(unit(), "TimeoutStopSec=30s\n");
  assertStringIncludes(unit({ "shutdown-timeout": "2m" }), "TimeoutStopSec=140s\n");
  assertStringIncludes(unit(), "CapabilityBoundingSet=\n");
  assertMatch(unit({ port: "443" }), /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m);
  assertMatch(unit({ "s3-port": "443" }), /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m);
  assert(!unit({ port: "0" }).includes("CAP_NET_BIND_SERVICE"));
});

Deno.test("Options that the server would refuse are refused for the unit", () => {
  assertThrows(() => unit({ port: "http" }), UsageError, "--port");
  assertThrows(() => unit({ user: "no one" }), UsageError, "--user");
  assertThrows(() => unit({ user: "%u" }), UsageError, "--user");
});

Deno.test("The advice can be pasted into a shell", () => {
  const settings = unitSettings(new Map([["data", "/srv/it's"]]), PACKED);
  const text = unitAdvice(settings, "files.service");
  assertStringIncludes(text, String.raw`install -d -o kvdrive -g kvdrive -m 700 '/srv/it'\''s'`);
  assertStringIncludes(text, "env KVDRIVE_RUNTIME_DIR=/var/cache/kvdrive '/opt/my files/kvdrive-");
  assertStringIncludes(text, "systemctl enable --now files.service\n");
});

Deno.test("A unit of several processes may start them, and nothing else may start programs", () => {
  const source = currentBuild({});
  const permission = `--allow-run=${Deno.execPath()}`;
  assertStringIncludes(unit({ processes: "auto" }, source), ` run ${permission} --no-prompt`);
  for (const options of [{ processes: "1" }, {}]) {
    assert(!unit(options as Record<string, string>, source).includes("--allow-run"));
  }
  const packed = unit({ processes: "4" }, PACKED);
  assertStringIncludes(packed, "--processes 4");
  assert(!packed.includes("--allow-run"));
  assertStringIncludes(packed, "KillMode=mixed\n");
});
