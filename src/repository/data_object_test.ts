import { assert, assertEquals, assertRejects } from "@std/assert";
import { DataWriter, readFooter, readGroups } from "./data_object.ts";
import { BadFormat } from "./errors.ts";
import { encryption, type Sealer, UNENCRYPTED } from "./seal.ts";
import { fingerprintOf } from "./tree.ts";

const GROUPS = [
  new Uint8Array(5000).fill(7),
  new Uint8Array(0),
  crypto.getRandomValues(new Uint8Array(900)),
];

async function objectOf(sealer: Sealer, isCompressed: boolean) {
  const writer = new DataWriter(sealer);
  // The memory of an earlier object is used again.
  writer.add(fingerprintOf(), (to) => to.bytes(new Uint8Array(100)));
  writer.clear();
  for (const group of GROUPS) writer.add(fingerprintOf(group), (to) => to.bytes(group));
  return (await writer.seal(isCompressed)).slice();
}

for (const isCompressed of [false, true]) {
  for (const isEncrypted of [false, true]) {
    const text = `${isCompressed ? "compressed" : "plain"}${isEncrypted ? ", encrypted" : ""}`;
    Deno.test(`an object has its groups: ${text}`, async () => {
      const sealer = isEncrypted
        ? encryption(crypto.getRandomValues(new Uint8Array(32)))
        : UNENCRYPTED;
      const object = await objectOf(sealer, isCompressed);
      assertEquals(await readGroups(object, sealer), GROUPS);
      const footer = readFooter(object.slice(-500), sealer);
      assertEquals(footer.map(({ length }) => length), GROUPS.map(({ byteLength }) => byteLength));
      assertEquals(footer[0]?.fingerprint, fingerprintOf(GROUPS[0] ?? new Uint8Array()));
    });
  }
}

Deno.test("every changed bit of an encrypted object is found", async () => {
  const sealer = encryption(new Uint8Array(32).fill(1));
  const object = await objectOf(sealer, true);
  for (let at = 0; at < object.byteLength; at += 7) {
    const changed = object.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    await assertRejects(() => readGroups(changed, sealer), BadFormat);
  }
  const [other] = [encryption(new Uint8Array(32).fill(2))];
  await assertRejects(() => readGroups(object, other), BadFormat, "cannot be decrypted");
});

Deno.test("no two objects are encrypted with the same key", async () => {
  const sealer = encryption(new Uint8Array(32));
  const one = sealer.seal("index", new Uint8Array(64));
  const other = sealer.seal("index", new Uint8Array(64));
  assert(one.subarray(32).some((byte, i) => byte !== other[32 + i]));
  await assertRejects(() => Promise.resolve().then(() => sealer.open("data", one)), BadFormat);
});

Deno.test("an object of any bytes is refused or read", async () => {
  const object = await objectOf(UNENCRYPTED, true);
  for (let round = 0; round < 3000; round++) {
    const damaged = object.slice(0, 1 + Math.floor(Math.random() * object.length));
    for (let change = 0; change < round % 4; change++) {
      damaged[Math.floor(Math.random() * damaged.length)] = Math.floor(Math.random() * 256);
    }
    await readGroups(damaged, UNENCRYPTED).catch((error: unknown) => {
      assert(error instanceof BadFormat, String(error));
    });
  }
});
