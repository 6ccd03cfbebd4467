import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Commits, commitsWithBallast } from "../engine/commits.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { Operation } from "../engine/operation.ts";
import { Ballast, BALLAST_BYTES, PIECES_FOR_USERS } from "./ballast.ts";
import { StoreFull } from "./disk_space.ts";

async function withBallast(test: (ballast: Ballast, data: string) => Promise<void>): Promise<void> {
  const data = await Deno.makeTempDir({ prefix: "kvdrive-ballast-" });
  try {
    const ballast = new Ballast(data);
    await ballast.refill();
    await test(ballast, data);
  } finally {
    await Deno.remove(data, { recursive: true });
  }
}

/** Commits that fail `times` times before they succeed, and count their calls. */
function failing(times: number, error: Error): { commits: Commits; calls: () => number } {
  let calls = 0;
  const commit = () => {
    if (++calls <= times) return Promise.reject(error);
    return Promise.resolve({ ok: true as const, versionstamp: "00000000000000010000" });
  };
  const commits = { once: commit, idempotent: commit, checks: 10, groups: 1, bulk: 1 };
  return { commits, calls: () => calls };
}

const full = () => new StoreFull("The disk is full");
const deletion = () => new Operation().delete(["a"]);
const upload = () => new Operation().set(["a"], new Uint8Array(10));

Deno.test("The ballast occupies real space, in private files", async () => {
  await withBallast(async (ballast, data) => {
    assertEquals(await ballast.missing(), 0);
    let allocated = 0;
    for await (const { name } of Deno.readDir(data)) {
      const { size, blocks, mode } = await Deno.stat(`${data}/${name}`);
      allocated += blocks === null ? size : blocks * 512;
      if (Deno.build.os !== "windows") assertEquals((mode ?? 0) & 0o777, 0o600);
    }
    assert(allocated >= BALLAST_BYTES, `${allocated} bytes are allocated`);
  });
});

Deno.test("A deletion on a full disk gets one piece after the other until it succeeds", async () => {
  await withBallast(async (ballast) => {
    const { commits, calls } = failing(3, full());
    const outcome = await commitsWithBallast(commits, ballast).once(deletion());
    assertEquals([outcome.ok, calls(), ballast.givenUp], [true, 4, 3]);
    assertEquals(await ballast.missing(), 3 * BALLAST_BYTES / 8);
  });
});

Deno.test("Background work leaves pieces for requests, and an operation that never fits fails", async () => {
  await withBallast(async (ballast) => {
    const { commits } = failing(1000, full());
    const background = commitsWithBallast(commits, ballast, PIECES_FOR_USERS);
    await assertRejects(() => background.once(deletion()), StoreFull);
    assertEquals(ballast.givenUp, 8 - PIECES_FOR_USERS);
    await assertRejects(() => commitsWithBallast(commits, ballast).once(deletion()), StoreFull);
    assertEquals([ballast.givenUp, await ballast.missing()], [8, BALLAST_BYTES]);
  });
});

Deno.test("Uploads get no ballast, not even pieces given up for deletions", async () => {
  await withBallast(async (ballast) => {
    const first = failing(1, full());
    const uploads = commitsWithBallast(first.commits, ballast);
    await assertRejects(() => uploads.once(upload()), StoreFull);
    assertEquals([first.calls(), ballast.givenUp], [1, 0]);
    await commitsWithBallast(failing(1, full()).commits, ballast).once(deletion());
    await assertRejects(() => uploads.once(upload()), StoreFull);
    assertEquals(first.calls(), 1);
    await ballast.refill();
    ballast.forgetNeed();
    assertEquals((await uploads.once(upload())).ok, true);
  });
});

Deno.test("An upload on a full disk gets the space that is held for a checkpoint", async () => {
  await withBallast(async (ballast) => {
    await ballast.holdGrowth(3_000_000);
    assertEquals(await ballast.growthHeld(), 3_000_000);
    const uploads = commitsWithBallast(failing(1, full()).commits, ballast);
    assertEquals((await uploads.once(upload())).ok, true);
    // The running checkpoint needs the space.
    await ballast.holdGrowth(3_000_000);
    assertEquals([await ballast.growthHeld(), await ballast.missing()], [0, 0]);
  });
});

Deno.test("Other failures give up no ballast", async () => {
  await withBallast(async (ballast) => {
    const others = [new StoreUnavailable("locked"), new TypeError("disk I/O error")];
    for (const other of others) {
      const { commits, calls } = failing(1, other);
      await assertRejects(() => commitsWithBallast(commits, ballast).once(deletion()));
      assertEquals([calls(), ballast.givenUp], [1, 0]);
    }
  });
});

Deno.test("Background work leaves requests their pieces and the space of a checkpoint", async () => {
  await withBallast(async (ballast) => {
    await ballast.holdGrowth(3_000_000);
    while (ballast.giveUp(PIECES_FOR_USERS));
    assertEquals(await ballast.missing(), BALLAST_BYTES / 2);
    assertEquals(await ballast.growthHeld(), 3_000_000);
  });
});
