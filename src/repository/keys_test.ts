import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Bytes } from "./bytes.ts";
import { checkRepository } from "./check.ts";
import { openMasterKey, readKeys, removeKey } from "./keys.ts";
import { Repository } from "./repository.ts";
import type { Target } from "./targets/target.ts";

/** A target in memory. Each step waits for its turn. */
function memoryTarget(objects: Map<string, Bytes>, turn: () => Promise<void>): Target {
  const step = <T>(work: () => T): Promise<T> => turn().then(work);
  return {
    place: "memory",
    prepare: () => Promise.resolve(),
    topNames: () => Promise.resolve([]),
    get: (name) => step(() => objects.get(name)),
    put: (name, bytes) => step(() => objects.set(name, bytes) !== undefined),
    remove: (name) => step(() => void objects.delete(name)),
    // deno-lint-ignore require-yield
    list: async function* () {
      throw new Error("No removal lists the keys");
    },
  };
}

/** Steps of a removal: read, store the copy, remove, look, remove the copy. */
const STEPS = 5;

/** Yields each order of the first steps of two removals, as who takes a step. Who has less than all was killed. */
function* orders(first = STEPS, second = STEPS): Generator<number[]> {
  yield [];
  if (first > 0) { for (const rest of orders(first - 1, second)) yield [0, ...rest]; }
  if (second > 0) { for (const rest of orders(first, second - 1)) yield [1, ...rest]; }
}

/** Lets two people remove each other's keys. @returns The contents of the keys that are left. */
async function removeEachOther(order: readonly number[]): Promise<string[]> {
  const ids = ["0".repeat(16), "1".repeat(16)] as const;
  const objects = new Map(ids.map((id, i) => [`keys/${id}`, Uint8Array.of(i)]));
  const waiting: (() => void)[] = [];
  for (const [me, id] of ids.entries()) {
    const turn = () => new Promise<void>((resolve) => waiting[me] = resolve);
    // It is refused if its own key is gone before it begins.
    removeKey(memoryTarget(objects, turn), id, ids[1 - me] ?? "").catch(() => {});
  }
  for (const me of order) {
    waiting[me]?.();
    // Until it waits for its next turn.
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }
  return [...objects.values()].map(String);
}

Deno.test("two that remove each other's keys leave one, whenever they are interrupted", async () => {
  for (const order of orders()) {
    const left = await removeEachOther(order);
    assert(left.length > 0, order.join(""));
  }
  assertEquals(await removeEachOther([0, 0, 0, 0, 0]), ["0"]);
  assertEquals(await removeEachOther([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]), ["0", "1"]);
});

/** Runs a test with an encrypted repository that the passphrases "one" and "two" open. */
async function withTwoKeys(
  test: (repository: Repository, paths: { one: string; two: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const target = `${folder}/repository`;
    const store = crypto.randomUUID();
    const repository = await Repository.openFor(store, { target, passphrase: "one" });
    const path = (id = "") => `${target}/keys/${id}`;
    const two = path(await repository.addKey("two"));
    await test(repository, { one: path(repository.key?.id), two });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a flipped bit anywhere in a key is damage that a check reports, also without its passphrase", async () => {
  await withTwoKeys(async ({ target }, { two }) => {
    const good = await Deno.readFile(two);
    for (let at = 0; at < good.length; at++) {
      const bad = good.slice();
      bad[at]! ^= 1;
      await Deno.writeFile(two, bad);
      const { keys, damaged } = await readKeys(target);
      assertEquals([keys.length, damaged.length], [1, 1], `byte ${at}`);
    }
  });
  await withTwoKeys(async (repository, { two }) => {
    const report = () => checkRepository(repository, { readAll: false });
    assertEquals((await report()).problems, new Map());
    const good = await Deno.readTextFile(two);
    await Deno.writeTextFile(two, good.replace(/"salt":"./, '"salt":"!'));
    const [[object = "", problem = ""] = []] = (await report()).problems;
    assert(two.endsWith(`/${object}`), object);
    assertEquals(
      problem,
      `The object ${object} of the repository is damaged: its content does not match its checksum`,
    );
  });
});

Deno.test("a damaged key does not stop another one, and its own passphrase is not called wrong", async () => {
  await withTwoKeys(async ({ target, config }, { one, two }) => {
    await Deno.writeTextFile(one, "");
    const opened = await openMasterKey(target, "two", config.id);
    assert(two.endsWith(`/${opened.key}`));
    await assertRejects(() => openMasterKey(target, "one", config.id), Error, "a key is damaged");
    await removeKey(target, opened.key, one.slice(-16));
    assertEquals((await readKeys(target)).damaged, []);
    await assertRejects(() => openMasterKey(target, "one", config.id), Error, "is wrong");
  });
});

Deno.test("a key that was made before keys had checksums opens the repository", async () => {
  await withTwoKeys(async ({ target, config }, { two }) => {
    const { sha256: _, ...before } = JSON.parse(await Deno.readTextFile(two)) as { sha256: string };
    await Deno.writeTextFile(two, JSON.stringify(before));
    assert(two.endsWith(`/${(await openMasterKey(target, "two", config.id)).key}`));
  });
});
