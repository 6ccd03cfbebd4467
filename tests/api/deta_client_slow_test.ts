import { assertEquals, assertMatch } from "@std/assert";
import { encodeBase64 } from "@std/encoding/base64";
import { MAX_PAYLOAD, MIB, MIN_PART, patternBytes, sha256Hex, utf8 } from "../support/bytes.ts";
import {
  callDetaClient,
  type DetaCall,
  type DetaOutcome,
  type DetaSession,
} from "../support/deta/client.ts";
import { AWKWARD_NAMES } from "../support/names.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { TlsFiles } from "../support/tls.ts";

/** A call and what the client makes of the answer. */
type Step = [DetaCall, DetaOutcome];

interface Context {
  session: DetaSession;
  /** Calls the client and compares what it says, call by call. */
  expect(steps: readonly Step[]): Promise<void>;
}

function test(sentence: string, run: (context: Context) => Promise<void>): void {
  Deno.test(`The official JavaScript client ${sentence}.`, async () => {
    await using files = await TlsFiles.make();
    await using server = await TestServer.start({ args: files.args });
    const session = {
      authority: files.authority,
      host: `localhost:${server.port}`,
      drive: "photos",
    };
    await run({ session, expect: (steps) => expectSteps(session, steps) });
  });
}

async function expectSteps(session: DetaSession, steps: readonly Step[]): Promise<void> {
  const outcomes = await callDetaClient(session, steps.map(([call]) => call));
  for (const [i, [call, expected]] of steps.entries()) {
    assertEquals(outcomes[i], expected, `${JSON.stringify(call)}: ${JSON.stringify(outcomes[i])}`);
  }
  assertEquals(outcomes.length, steps.length);
}

test("stores each form of data and reads the same bytes", async ({ session, expect }) => {
  const path = `${session.authority}.copy`;
  await Deno.writeFile(path, patternBytes(2000, 1));
  await expect([
    [{ do: "put", name: "text", source: { text: "plain text" } }, { value: "text" }],
    [{ do: "get", name: "text" }, await file(utf8("plain text"))],
    [{ do: "put", name: "bytes", source: { size: 3000, seed: 2 } }, { value: "bytes" }],
    [{ do: "get", name: "bytes" }, await file(patternBytes(3000, 2))],
    [{ do: "put", name: "path", source: { path } }, { value: "path" }],
    [{ do: "get", name: "path" }, await file(patternBytes(2000, 1))],
    [{ do: "put", name: "empty", source: { size: 0, seed: 1 } }, { value: "empty" }],
    [{ do: "get", name: "empty" }, await file(new Uint8Array())],
    [{ do: "put", name: "tiny", source: { size: 1, seed: 1 } }, { value: "tiny" }],
    [{ do: "get", name: "tiny" }, await file(patternBytes(1, 1))],
    [{ do: "put", name: "text", source: { text: "another" } }, { value: "text" }],
    [{ do: "get", name: "text" }, await file(utf8("another"))],
    [{ do: "get", name: "missing" }, { value: null }],
  ]);
});

test("gets the content type that was given, or one derived from the name", async ({ expect }) => {
  const source = { text: "x" };
  const put = (name: string, contentType?: string): Step => {
    const type = contentType === undefined ? {} : { contentType };
    return [{ do: "put", name, source, ...type }, { value: name }];
  };
  const get = async (name: string, type: string): Promise<Step> => {
    return [{ do: "get", name }, await file(utf8("x"), type)];
  };
  await expect([
    put("given.png", "text/x-special"),
    await get("given.png", "text/x-special"),
    put("by-name.png"),
    await get("by-name.png", "image/png"),
    put("neither"),
    await get("neither", "application/octet-stream"),
  ]);
});

test("stores files of several parts, from memory and from a path", async ({ session, expect }) => {
  const path = `${session.authority}.large`;
  await Deno.writeFile(path, patternBytes(25 * MIB, 3));
  const sizes = [MIN_PART, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD];
  const steps: Step[] = [
    [{ do: "put", name: "large", source: { path } }, { value: "large" }],
    [{ do: "get", name: "large" }, await file(patternBytes(25 * MIB, 3))],
  ];
  for (const size of sizes) {
    const name = `file of ${size}`;
    steps.push([{ do: "put", name, source: { size, seed: size } }, { value: name }]);
    steps.push([{ do: "get", name }, await file(patternBytes(size, size))]);
  }
  await expect(steps);
});

test("stores, reads and deletes files of awkward names", async ({ expect }) => {
  // The client itself trims a name before it sends it.
  const names = AWKWARD_NAMES.map(({ name }) => name).filter((name) => name === name.trim());
  const steps: Step[] = [];
  for (const [i, name] of names.entries()) {
    const source = { size: i + 1, seed: i };
    steps.push([{ do: "put", name, source, contentType: "text/x-data" }, { value: name }]);
  }
  for (const [i, name] of names.entries()) {
    steps.push([{ do: "get", name }, await file(patternBytes(i + 1, i), "text/x-data")]);
  }
  steps.push([{ do: "deleteMany", names }, { value: { deleted: names, failed: [] } }]);
  for (const name of names) steps.push([{ do: "get", name }, { value: null }]);
  await expect(steps);
});

test("lists with each of its options", async ({ expect }) => {
  const names = ["a.txt", "b/1", "b/2", "b/c/3", "d e/4", "🦖/5"];
  await expect([
    [{ do: "list" }, { value: { names: [] } }],
    ...names.map((name): Step => {
      return [{ do: "put", name, source: { text: name } }, { value: name }];
    }),
    list(undefined, names),
    list({ recursive: true }, names),
    list({ recursive: false }, ["a.txt", "b/", "d e/", "🦖/"]),
    list({ prefix: "b/" }, ["b/1", "b/2", "b/c/3"]),
    list({ prefix: "b/", recursive: false }, ["b/1", "b/2", "b/c/"]),
    list({ prefix: "d e" }, ["d e/4"]),
    list({ prefix: "🦖" }, ["🦖/5"]),
    list({ prefix: "nothing" }, []),
    list({ limit: 6 }, names),
    list({ limit: 2 }, ["a.txt", "b/1"], true),
    list({ limit: 2, last: "b/1" }, ["b/2", "b/c/3"], true),
    list({ limit: 2, last: "b/c/3" }, ["d e/4", "🦖/5"]),
    list({ last: "d e/4" }, ["🦖/5"]),
    list({ last: "🦖/5" }, []),
    list({ limit: 1, prefix: "b/", last: "b/1" }, ["b/2"], true),
    list({ limit: 2, recursive: false }, ["a.txt", "b/"], true),
    list({ limit: 2, recursive: false, last: "b/" }, ["d e/", "🦖/"]),
  ]);
});

test("deletes files that exist and files that don't", async ({ expect }) => {
  const put = (name: string): Step => {
    return [{ do: "put", name, source: { text: name } }, { value: name }];
  };
  await expect([
    [{ do: "delete", name: "missing" }, { value: "missing" }],
    ...["a", "b", "c", "d"].map(put),
    [{ do: "delete", name: "a" }, { value: "a" }],
    [{ do: "get", name: "a" }, { value: null }],
    [
      { do: "deleteMany", names: ["c", "missing", "b"] },
      { value: { deleted: ["c", "missing", "b"], failed: [] } },
    ],
    list(undefined, ["d"]),
    [{ do: "deleteMany", names: [" "] }, { error: "Names can't be empty" }],
    list(undefined, ["d"]),
  ]);
});

test("reports the server's error message", async ({ session }) => {
  const put: DetaCall = { do: "put", name: "a/", source: { text: "x" } };
  const [slash, limit] = await callDetaClient(session, [put, {
    do: "list",
    options: { limit: -1 },
  }]);
  assertMatch(slash?.error ?? "", /\//);
  assertMatch(limit?.error ?? "", /limit/);
  const stranger = { ...session, key: `${PROJECT_ID}_0000000000000000000000000000000` };
  const [unknown] = await callDetaClient(stranger, [{ do: "list" }]);
  assertMatch(unknown?.error ?? "", /key/i);
});

test("finds the server by DETA_DRIVE_HOST", async ({ session }) => {
  const calls: DetaCall[] = [
    { do: "put", name: "a", source: { text: "x" } },
    { do: "list" },
  ];
  const outcomes = await callDetaClient({ ...session, byEnvironment: true }, calls);
  assertEquals(outcomes, [{ value: "a" }, { value: { names: ["a"] } }]);
});

type ListOptions = Extract<DetaCall, { do: "list" }>["options"];

function list(options: ListOptions, names: string[], more = false): Step {
  const paging = more ? { paging: { size: names.length, last: names.at(-1) } } : {};
  return [{ do: "list", ...(options && { options }) }, { value: { names, ...paging } }];
}

async function file(
  bytes: Uint8Array<ArrayBuffer>,
  type = "application/octet-stream",
): Promise<DetaOutcome> {
  const inline = bytes.length <= 4096 ? { base64: encodeBase64(bytes) } : {};
  return { value: { size: bytes.length, sha256: await sha256Hex(bytes), type, ...inline } };
}
