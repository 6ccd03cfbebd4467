import { utf8 } from "../../../support/bytes.ts";
import { PROJECT_ID } from "../../../support/server.ts";
import { mutated } from "./json.ts";
import type { FuzzRandom } from "./random.ts";
import { brokenEscape, type Draft, encode, randomText } from "./text.ts";

const APPS = ["notes", "a.b", "A_-9"];

const CALLS: readonly (readonly [path: string, methods: readonly string[]])[] = [
  ["", ["GET", "HEAD", "PATCH", "DELETE"]],
  ["/drives/{any}", ["DELETE"]],
  ["/keys", ["GET", "POST"]],
  ["/keys/{any}", ["DELETE"]],
  ["/apps", ["GET", "POST"]],
  ["/apps/{app}", ["GET", "PATCH", "DELETE"]],
  ["/apps/{app}/access", ["GET", "PUT"]],
  ["/apps/{app}/keys", ["GET", "POST"]],
  ["/apps/{app}/keys/{any}", ["DELETE"]],
];

const VALUES = [
  "null",
  "true",
  "1e400",
  "9007199254740991",
  '""',
  '" "',
  '"notes"',
  '"a.b"',
  '"http://127.0.0.1:1"',
  '"http://a:b@c/d?e#f"',
  '"app.example.com"',
  '"127.0.0.1"',
  '"\\ud800"',
  '"\\u0000"',
  "[]",
  "{}",
  `"${"x".repeat(70_000)}"`,
];

const FIELDS = [
  "name",
  "description",
  "upstream",
  "host",
  "enabled",
  "project_id",
  "max_bytes",
  "max_files",
  "__proto__",
  "constructor",
  "",
];

/** Drafts a call of the administration API by the owner of the tests' project, possibly malformed. */
export function adminDraft(random: FuzzRandom): Draft {
  const [path, methods] = random.pick(CALLS);
  const method = random.pick(methods);
  const filled = path.replace("{app}", () => segment(random, random.pick(APPS)))
    .replace("{any}", () => segment(random, `none-${randomText(random, 9)}`));
  const root = random.chance(0.97) ? `/${PROJECT_ID}` : random.pick(["", "/", "/other", "/%zz"]);
  const writes = !["GET", "HEAD", "DELETE"].includes(method);
  return {
    methods: [method],
    path: `/admin/v1/projects${root}${filled}`,
    whole: true,
    query: [],
    ...(writes ? { body: utf8(bodyText(random)) } : {}),
  };
}

function segment(random: FuzzRandom, text: string): string {
  return random.choose<() => string>([
    [12, () => encode(random, text).replaceAll("/", "%2F").replaceAll(/[?#]/g, "%3F")],
    [1, () => encodeURIComponent(randomText(random, 20))],
    [1, () => "x".repeat(random.pick([65, 129, 2049, 5000]))],
    [1, () => "%00"],
    [1, () => brokenEscape(random).replaceAll("/", "%2F")],
  ])();
}

function bodyText(random: FuzzRandom): string {
  const valid = random.pick([
    "",
    "{}",
    `{"name":"${random.pick(APPS)}"}`,
    `{"name":"key ${random.below(5)}","description":"of a test"}`,
    `{"enabled":${random.chance(0.7)}}`,
    `{"host":"h${random.below(9)}.example"}`,
    '{"host":null}',
  ]);
  return random.choose<() => string>([
    [6, () => valid],
    [3, () => mutated(random, valid)],
    [3, () => `{${Array.from({ length: random.between(1, 3) }, () => field(random)).join()}}`],
    [1, () => random.pick(["null", "[]", "0", '"name"', "[".repeat(30_000)])],
  ])();
}

function field(random: FuzzRandom): string {
  return `"${random.pick(FIELDS)}":${random.pick(VALUES)}`;
}
