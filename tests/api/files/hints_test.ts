import { assertEquals, assertLess } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, Project } from "../../support/admin.ts";
import type { Drive } from "../../support/drive.ts";
import { query } from "../../support/drive.ts";
import { EventStream } from "../../support/store/changes.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Hints of changes", ADMINISTERED);

function hints(
  { server }: Drive,
  { id, key }: Pick<Project, "id" | "key">,
  parameters: Record<string, string> = {},
): EventStream {
  return EventStream.at(`${server.origin}/v1/${id}/hints${query(parameters)}`, key);
}

/** Returns the id of the next event of a kind; that of the head has none. */
async function next(stream: EventStream, kind?: "change"): Promise<string> {
  for (;;) {
    const block = await stream.block();
    if (block === undefined) throw new Error("The stream has ended");
    if (block.id !== undefined && block.event === kind) return block.id;
  }
}

test("A hint follows each change of the drive, and none of another one.", async (anyone) => {
  const project = await Project.make(anyone.server);
  const [photos, other] = [project.drive("photos"), project.drive("other")];
  await using stream = hints(anyone, project, { drive: "photos" });
  await using all = hints(anyone, project);
  const head = await stream.head();
  assertEquals([head.status, head.headers.get("content-type")], [200, "text/event-stream"]);
  const start = await next(stream);
  await next(all);
  await other.put("a", "1");
  await next(all, "change");
  const began = Date.now();
  await photos.put("a", "1");
  const first = await next(stream, "change");
  assertLess(Date.now() - began, 5000);
  // A version of the same size changes no count.
  await photos.put("a", "2");
  const second = await next(stream, "change");
  assertEquals(new Set([start, first, second]).size, 3);
  // A caller that comes back is told at once what it has missed, and nothing else.
  await using missed = hints(anyone, project, { drive: "photos", since: first });
  assertEquals(await next(missed, "change"), second);
  await using current = hints(anyone, project, { drive: "photos", since: second });
  assertEquals(await next(current), second);
});

test("There are at most two hints a second.", async (anyone) => {
  const project = await Project.make(anyone.server);
  const photos = project.drive("photos");
  await using stream = hints(anyone, project);
  await next(stream);
  let count = 0;
  const counting = (async () => {
    while (await stream.block() !== undefined) count++;
  })().catch(() => {});
  const began = Date.now();
  for (let at = 0; Date.now() - began < 1500; at++) await photos.put(`${at}`, "1");
  await delay(600);
  assertLess(count, 2 * (Date.now() - began) / 1000 + 2);
  await stream[Symbol.asyncDispose]();
  await counting;
});

test("A key needs the permission list, and hears of its own drives only.", async (anyone) => {
  const project = await Project.make(anyone.server);
  const keyFor = async (limits: unknown) => ({
    id: project.id,
    key: (await project.makeKey(limits)).project_key,
  });
  const blind = await keyFor({ name: "blind", permissions: ["read"] });
  assertEquals((await hints(anyone, blind).refusal()).code, "missing_permission");
  const limited = await keyFor({ name: "limited", drives: ["photos"] });
  const refused = await hints(anyone, limited, { drive: "other" }).refusal();
  assertEquals([refused.status, refused.code], [403, "key_limited"]);
  await using stream = hints(anyone, limited);
  const start = await next(stream);
  await project.drive("other").put("a", "1");
  await project.drive("photos").put("a", "1");
  await next(stream, "change");
  await using again = hints(anyone, limited, { since: start });
  await next(again, "change");
});
