import { assertEquals, assertGreaterOrEqual } from "@std/assert";
import { delay } from "@std/async/delay";
import { administer, ADMINISTERED, type AuditEvent, Project } from "../support/admin.ts";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const ROUNDS = isFull() ? 40 : 3;
const CLIENTS = 8;
/** The longest time under load before the server is killed, in milliseconds after its first answer. */
const MAX_LOAD_TIME = 600;

/** Creates keys until the server dies. @returns the prefixes of those that were answered. */
async function createKeys(project: Project, onAnswer: () => void): Promise<string[]> {
  const prefixes: string[] = [];
  try {
    for (;;) {
      const made = (await project.call("POST", "/keys", { as: project.owner })).expect(201);
      prefixes.push((made.json as { prefix: string }).prefix);
      onAnswer();
    }
  } catch {
    return prefixes;
  }
}

async function eventsOf(project: Project): Promise<AuditEvent[]> {
  const found: AuditEvent[] = [];
  for (let last = "";;) {
    const answer = (await project.call("GET", `/events?last=${last}`)).expect(200);
    const { events, paging } = answer.json as {
      events: AuditEvent[];
      paging?: { last: string };
    };
    found.push(...events);
    if (paging === undefined) return found;
    last = paging.last;
  }
}

Deno.test("After a kill every change has its event, and every event its change.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.path };
  const answered: string[] = [];
  let made: { id: string; key: string } | undefined;
  for (let round = 0; round <= ROUNDS; round++) {
    await using server = await TestServer.start(options);
    made ??= await Project.make(server);
    const project = new Project(server, made.id, made.key);
    const { keys } = (await administer(server, "GET", `${project.path}/keys`)).expect(200).json as {
      keys: { prefix: string }[];
    };
    const recorded = (await eventsOf(project)).filter(({ event }) => event === "key.created")
      .map(({ target }) => target).sort();
    assertEquals(recorded, keys.map(({ prefix }) => prefix).sort());
    assertEquals(answered.filter((prefix) => !recorded.includes(prefix)), []);
    if (round === ROUNDS) break;
    const { promise: first, resolve } = Promise.withResolvers<void>();
    const load = Promise.all(Array.from({ length: CLIENTS }, () => createKeys(project, resolve)));
    await Promise.race([first, load]);
    await delay(random.below(MAX_LOAD_TIME));
    await server.stop("SIGKILL");
    answered.push(...(await load).flat());
  }
  assertGreaterOrEqual(answered.length, ROUNDS);
  await auditStore(folder.path, false);
});
