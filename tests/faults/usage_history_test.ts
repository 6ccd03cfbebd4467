import { assertEquals } from "@std/assert";
import { administer, ADMINISTERED, Project } from "../support/admin.ts";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { FakeClock, HOUR } from "./support/clock.ts";
import { untilClosed } from "./support/usage_history.ts";
import { auditStore } from "./support/audit/store_audit.ts";

const DAY = 24 * HOUR;

interface Day {
  date: string;
  files: number;
  requests: number;
}

Deno.test("A clock that jumps between days destroys no daily figures.", async () => {
  await using clock = await FakeClock.make();
  await using folder = await Folder.make();
  const data = folder.at("data");
  await Deno.mkdir(data, { mode: 0o700 });
  const env = { ...ADMINISTERED.env, ...clock.env };
  /** Runs a server on this day, counted from today. */
  const onDay = async (day: number, work: (server: TestServer) => Promise<void>) => {
    await clock.set(day * DAY);
    await using server = await TestServer.start({ env, data });
    await untilClosed(data, Math.floor(Date.now() / DAY) + day - 1);
    await work(server);
    assertEquals((await server.stop()).code, 0);
  };
  const key = "clocked_0123456789abcdefghijABCDEFGHIJ";
  const put = (name: string) => async (server: TestServer) =>
    void await new Project(server, "clocked", key).drive("d").put(name, name);
  const daysOf = async (server: TestServer, days: number): Promise<[number, number][]> => {
    const path = `/admin/v1/projects/clocked/usage?days=${days}`;
    const answer = (await administer(server, "GET", path)).expect(200);
    return (answer.json as { days: Day[] }).days.map(({ files, requests }) => [files, requests]);
  };
  env["KVDRIVE_PROJECT_KEY"] = key;
  await onDay(0, put("a"));
  await onDay(1, put("b"));
  await onDay(2, put("c"));
  await onDay(3, async (server) => {
    await put("d")(server);
    assertEquals(await daysOf(server, 9), [[1, 1], [2, 1], [3, 1], [4, 0]]);
  });
  // Requests to the administration count, too. The last day has ended only after the first wrong one.
  const history: [number, number][] = [[1, 1], [2, 2], [3, 1], [5, 2]];
  for (const wrong of [1, 4000, -300]) {
    await onDay(wrong, put(`wrong ${wrong}`));
    await onDay(4, async (server) => {
      const days = await daysOf(server, 5);
      // The request of the first wrong day counts there.
      assertEquals(days.slice(0, 4), history, `${wrong} days`);
    });
  }
  await auditStore(data, false);
});
