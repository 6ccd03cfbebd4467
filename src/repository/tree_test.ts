import { assert, assertEquals, assertThrows } from "@std/assert";
import { BadFormat } from "./errors.ts";
import {
  compareBytes,
  decodeNode,
  encodeNode,
  fingerprintOf,
  type LoadNode,
  type StoreNode,
  TreeBuilder,
  type TreeEntry,
  type TreeNode,
  type TreeRoot,
  walkFrom,
  walkTree,
} from "./tree.ts";

const encoder = new TextEncoder();

function entryOf(number: number, content = number): TreeEntry {
  const key = encoder.encode(`key ${String(number).padStart(8, "0")}`);
  const name = String(Math.floor(content / 100)).padStart(64, "0");
  const fingerprint = fingerprintOf(encoder.encode(String(content)));
  return { key, fingerprint, object: { name, size: 1000 }, ordinal: content % 100 };
}

/** Builds a tree in memory. */
async function build(entries: readonly TreeEntry[], nodes: Map<string, TreeNode>) {
  let stored = 0;
  const storeNode: StoreNode = (_, fingerprint, bytes) => {
    const name = Array.from(fingerprint, (byte) => byte.toString(16).padStart(2, "0")).join("")
      .padStart(64, "0");
    if (!nodes.has(name)) stored++;
    nodes.set(name, decodeNode(bytes.slice(1)));
    return Promise.resolve({ name, size: bytes.byteLength });
  };
  const builder = new TreeBuilder(storeNode);
  for (const entry of entries) builder.add(entry.key, entry);
  const root = await builder.finish();
  assert(root !== undefined);
  return { root, stored };
}

function loaderOf(nodes: ReadonlyMap<string, TreeNode>): LoadNode {
  return ({ name }, level) => {
    const node = nodes.get(name);
    return node?.level === level ? Promise.resolve(node) : Promise.reject(new Error(name));
  };
}

async function keysIn(root: TreeRoot, load: LoadNode): Promise<string[]> {
  const nodes = await Array.fromAsync(walkTree(root, load));
  return nodes.flat().map(({ key }) => new TextDecoder().decode(key));
}

Deno.test("a tree has its groups in order, and finds each of them", async () => {
  for (const count of [1, 2, 5000, 20_000]) {
    const nodes = new Map<string, TreeNode>();
    const entries = Array.from({ length: count }, (_, i) => entryOf(2 * i));
    const { root } = await build(entries, nodes);
    const load = loaderOf(nodes);
    assertEquals(await keysIn(root, load), entries.map(({ key }) => new TextDecoder().decode(key)));
    for (let i = 0; i < count; i += Math.ceil(count / 50)) {
      const wanted = entryOf(2 * i + 1).key;
      for await (const { key } of walkFrom(root, wanted, load)) {
        assertEquals(compareBytes(key, entryOf(2 * i).key), 0);
        break;
      }
    }
  }
});

Deno.test("a change alters one node on each level", async () => {
  const nodes = new Map<string, TreeNode>();
  const entries = Array.from({ length: 20_000 }, (_, i) => entryOf(i));
  const first = await build(entries, nodes);
  assert(first.stored > 10, String(first.stored));
  const changed = entries.with(7000, entryOf(7000, 999_999));
  assertEquals((await build(changed, nodes)).stored, first.root.level + 1);
  const shorter = entries.toSpliced(9000, 1);
  assert((await build(shorter, nodes)).stored <= first.root.level + 2);
  assertEquals((await build(entries, nodes)).stored, 0);
});

Deno.test("a node of any bytes is refused or decoded", () => {
  const bytes = encodeNode({ level: 1, entries: Array.from({ length: 20 }, (_, i) => entryOf(i)) })
    .slice(1);
  assertEquals(decodeNode(bytes).entries.length, 20);
  let refused = 0;
  for (let round = 0; round < 20_000; round++) {
    const damaged = bytes.slice(0, 1 + Math.floor(Math.random() * bytes.length));
    for (let change = 0; change < round % 4; change++) {
      damaged[Math.floor(Math.random() * damaged.length)] = Math.floor(Math.random() * 256);
    }
    try {
      decodeNode(damaged);
    } catch (error) {
      assert(error instanceof BadFormat, String(error));
      refused++;
    }
  }
  assert(refused > 10_000);
});

Deno.test("a node that would take memory for nothing is refused", () => {
  const entry = entryOf(1);
  const many = Array.from({ length: 5000 }, () => entry);
  for (const entries of [many, [{ ...entry, ordinal: 2 ** 40 }]]) {
    assertThrows(() => decodeNode(encodeNode({ level: 0, entries }).slice(1)), BadFormat);
  }
});

Deno.test("a walk goes on behind a node that cannot be read", async () => {
  const nodes = new Map<string, TreeNode>();
  const entries = Array.from({ length: 5000 }, (_, i) => entryOf(i));
  const { root } = await build(entries, nodes);
  const top = nodes.get(root.object.name);
  assert(top !== undefined && top.entries.length > 2);
  nodes.delete(top.entries[1]!.object.name);
  let errors = 0;
  const groups = walkFrom(root, entryOf(0).key, loaderOf(nodes), () => {
    errors++;
    return Promise.resolve();
  });
  const found = await Array.fromAsync(groups);
  assertEquals(errors, 1);
  assert(found.length < entries.length);
  assertEquals(found.at(-1)?.key, entries.at(-1)?.key);
});
