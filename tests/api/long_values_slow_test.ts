import { assert, assertEquals } from "@std/assert";
import { administer, ADMINISTERED, Project } from "../support/admin.ts";
import { Drive, send } from "../support/drive.ts";
import { PROJECT_ID } from "../support/server.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

/** Values that fit into a request and into no key of a store, percent-encoded, and some that are no names. */
const VALUES = [
  ["a long text", "x".repeat(3000)],
  ["a text that fits alone", "x".repeat(2000)],
  ["the longest text of a request", "x".repeat(20_000)],
  ["long emoji", encodeURIComponent("🦖".repeat(1200))],
  ["the highest characters", "%F4%8F%BF%BF".repeat(600)],
  ["many NULs", "%00".repeat(1500)],
  ["NULs in between", "a%00".repeat(1000)],
  ["one NUL", "%00"],
  ["the last character", "%F4%8F%BF%BF"],
] as const;

const DRIVE = `/v1/${PROJECT_ID}/long`;
const ADMIN = `/admin/v1/projects/${PROJECT_ID}`;

/** Every list with its parameters that are compared with keys of the store, and how long values are answered. */
const LISTS: [path: string, parameters: string[]][] = [
  [`/v1/${PROJECT_ID}`, ["last", "prefix"]],
  [`${DRIVE}/files`, ["last", "prefix", "contains"]],
  [`${DRIVE}/files?recursive=false&details=true`, ["last", "prefix"]],
  [`${DRIVE}/folders`, ["last", "prefix"]],
  [`${DRIVE}/trash`, ["last", "prefix"]],
  [`${DRIVE}/uploads`, ["last"]],
  [`${DRIVE}/links`, ["last"]],
  [`${ADMIN}/events`, ["last"]],
  ["/admin/v1/events", ["last"]],
];

/** Paths and bodies with an id, at `*`. */
const IDS: [method: string, path: string, body?: (id: string) => unknown][] = [
  ["GET", `${DRIVE}/uploads/*?name=a`],
  ["PATCH", `${DRIVE}/uploads/*?name=a`],
  ["DELETE", `${DRIVE}/uploads/*?name=a`],
  ["POST", `${DRIVE}/uploads/*/parts?name=a&part=1`],
  ["DELETE", `${DRIVE}/links/*`],
  ["POST", `${DRIVE}/trash/restore`, (id) => ({ ids: [id] })],
  ["DELETE", `${DRIVE}/trash`, (id) => ({ ids: [id] })],
  ["DELETE", `${ADMIN}/keys/*`],
  ["DELETE", `${ADMIN}/s3-keys/*`],
  ["DELETE", `${ADMIN}/drives/*`],
  ["GET", `${ADMIN}/apps/*`],
  ["DELETE", `${ADMIN}/apps/*`],
  ["GET", `${ADMIN}/apps/app/keys`],
  ["DELETE", `${ADMIN}/apps/app/keys/*`],
  ["GET", "/admin/v1/projects/*"],
  ["GET", "/dashboard/download/*?zip=a"],
  ["GET", "/s/*"],
  ["GET", `/auth/${PROJECT_ID}/*`],
];

for (const reads of ["mapped", "kv"]) {
  const test = suite(`Long values with --reads ${reads}`, {
    env: { ...ADMINISTERED.env, KVDRIVE_READS: reads },
    args: [],
  });

  test("A list answers any value: with a page, or 400 and a sentence.", async ({ server }) => {
    const drive = new Drive(server, "long");
    await drive.put("a", "x");
    for (const [path, parameters] of LISTS) {
      for (const parameter of parameters) {
        for (const [what, value] of VALUES) {
          const sign = path.includes("?") ? "&" : "?";
          const answer = await administer(server, "GET", `${path}${sign}${parameter}=${value}`);
          const about = `${path} ${parameter}: ${what}`;
          assert([200, 400].includes(answer.status), `${about}: ${answer.status}`);
          if (answer.status === 400) assertErrorAnswer(answer);
          const isOfNames = parameter !== "last" || /^\/v1\/[^/]+$|files|folders/.test(path);
          if (isOfNames && parameter !== "contains") assertEquals(answer.status, 200, about);
        }
      }
    }
  });

  test("A call with any id is answered without a defect.", async ({ server }) => {
    await administer(server, "POST", `${ADMIN}/apps`, { body: { name: "app" } });
    const failed: string[] = [];
    for (const [method, path, bodyOf] of IDS) {
      for (const [what, value] of VALUES) {
        const id = decodeURIComponent(value);
        const body = bodyOf?.(id);
        const answer = await administer(server, method, path.replace("*", value), { body });
        if (answer.status >= 500) failed.push(`${method} ${path} with ${what}: ${answer.status}`);
        if (answer.status >= 400) assert(answer.text.length < 2_000, path);
      }
    }
    assertEquals(failed, []);
  });

  test("The folder of a link takes any value.", async ({ server }) => {
    const project = await Project.make(server);
    const drive = project.drive("d");
    await drive.put("in/a", "x");
    const body = JSON.stringify({ prefix: "in/" });
    const made = (await drive.send("POST", "/links", { body })).expect(201).json as { url: string };
    for (const parameter of ["last", "prefix", "name"]) {
      for (const [what, value] of VALUES) {
        const path = `${new URL(made.url).pathname}?${parameter}=${value}`;
        const answer = await send(server, "GET", path, { headers: { Accept: "application/json" } });
        assert([200, 400, 404].includes(answer.status), `${parameter} ${what}: ${answer.status}`);
      }
    }
  });
}
