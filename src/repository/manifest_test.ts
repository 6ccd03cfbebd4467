import { assert, assertEquals, assertThrows } from "@std/assert";
import { BadFormat } from "./errors.ts";
import { decodeManifest, encodeManifest, type Manifest, newSnapshotId } from "./manifest.ts";

const MANIFEST: Manifest = {
  id: newSnapshotId(),
  sequence: 7,
  revision: 2,
  time: 1_700_000_000_000,
  store: crypto.randomUUID(),
  format: 4,
  files: 3,
  bytes: 1000,
  size: 8192,
  added: 900,
  damaged: ["00ff"],
  commits: { records: 40, bytes: 20 },
  root: {
    level: 1,
    object: { name: "a".repeat(64), size: 500 },
    fingerprint: new Uint8Array(16).fill(5),
  },
};

Deno.test("a manifest is what it was", () => {
  assertEquals(decodeManifest(encodeManifest(MANIFEST)), MANIFEST);
});

Deno.test("a manifest of any bytes is refused or decoded", () => {
  const bytes = encodeManifest(MANIFEST);
  for (let round = 0; round < 20_000; round++) {
    const damaged = bytes.slice(0, 1 + Math.floor(Math.random() * bytes.length));
    for (let change = 0; change <= round % 4; change++) {
      damaged[Math.floor(Math.random() * damaged.length)] = Math.floor(Math.random() * 256);
    }
    try {
      decodeManifest(damaged);
    } catch (error) {
      assert(error instanceof BadFormat, String(error));
    }
  }
});

Deno.test("a time that no date can have is refused", () => {
  const manifest = { ...MANIFEST, time: 9e15 };
  assertThrows(() => decodeManifest(encodeManifest(manifest)), BadFormat);
});
