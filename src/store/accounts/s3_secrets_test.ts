import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { encodeBase64 } from "@std/encoding/base64";
import { S3KeysUnavailable } from "../engine/errors.ts";
import { withFolder } from "../testing/stores.ts";
import { parseS3SecretKey, S3_KEY_FILE, S3KeyFile, S3SecretBox } from "./s3_secrets.ts";

const OWNER = { accessKeyId: "KV".padEnd(20, "A"), project: "p" };

function boxOf(folder: string): S3SecretBox {
  return new S3SecretBox(S3KeyFile.inFolder(folder));
}

async function modeOf(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o777;
}

Deno.test("The key file is created with the first secret, private, and opens it later", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/${S3_KEY_FILE}`;
    const sealed = await boxOf(folder).seal("secret", OWNER);
    assertEquals(await modeOf(path), 0o600);
    assertMatch(await Deno.readTextFile(path), /^[A-Za-z0-9+/]{43}=\n$/);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), [S3_KEY_FILE]);
    assertEquals(await boxOf(folder).open(sealed, OWNER), "secret");
    const again = await boxOf(folder).seal("secret", OWNER);
    assert(again.iv !== sealed.iv && again.text !== sealed.text);
    assertEquals(await boxOf(folder).open(again, OWNER), "secret");
  });
});

Deno.test("A process that found no key file uses the one that another process creates", async () => {
  await withFolder(async (folder) => {
    const box = boxOf(folder);
    const nothing = { iv: "", text: "" };
    await assertRejects(() => box.open(nothing, OWNER), S3KeysUnavailable, "does not exist");
    const sealed = await boxOf(folder).seal("secret", OWNER);
    assertEquals(await box.open(sealed, OWNER), "secret");
    await Deno.remove(`${folder}/${S3_KEY_FILE}`);
    const later = await boxOf(folder).seal("later", OWNER);
    assertEquals(await box.open(later, OWNER), "later");
    await assertRejects(() => box.open(sealed, OWNER), S3KeysUnavailable, "another secret");
  });
});

Deno.test("Processes that create the key file at once use the same key", async () => {
  for (let round = 0; round < 5; round++) {
    await withFolder(async (folder) => {
      // The remains of a killed process are not used as a key.
      const left = ".kvdrive-00000000-0000-4000-8000-000000000000.tmp";
      await Deno.writeTextFile(`${folder}/${left}`, "left");
      const sealed = await Promise.all(
        Array.from({ length: 8 }, (_, i) => boxOf(folder).seal(`secret ${i}`, OWNER)),
      );
      for (const [i, one] of sealed.entries()) {
        assertEquals(await boxOf(folder).open(one, OWNER), `secret ${i}`);
      }
      assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), [S3_KEY_FILE]);
    });
  }
});

Deno.test("A damaged key file is refused and never replaced", async () => {
  const key = encodeBase64(new Uint8Array(32));
  for (const text of ["", "\n", key.slice(0, 20), `${key}${key}`, "x".repeat(44), `${key}\0`]) {
    await withFolder(async (folder) => {
      const path = `${folder}/${S3_KEY_FILE}`;
      await Deno.writeTextFile(path, text);
      await assertRejects(() => boxOf(folder).seal("secret", OWNER), S3KeysUnavailable, "damaged");
      const sealed = { iv: "", text: "" };
      await assertRejects(() => boxOf(folder).open(sealed, OWNER), S3KeysUnavailable, "damaged");
      assertEquals(await Deno.readTextFile(path), text);
    });
  }
});

Deno.test("A key file that cannot be read or created is refused with the reason", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/${S3_KEY_FILE}`);
    await assertRejects(() => boxOf(folder).seal("secret", OWNER), S3KeysUnavailable, "directory");
    const nowhere = boxOf(`${folder}/absent`);
    await assertRejects(() => nowhere.seal("secret", OWNER), S3KeysUnavailable, "No such file");
  });
});

Deno.test("A key file that others can read is made private, with a warning", async () => {
  await withFolder(async (folder) => {
    const file = S3KeyFile.inFolder(folder);
    assertEquals(await file.warnings(), []);
    await boxOf(folder).seal("secret", OWNER);
    assertEquals(await file.warnings(), []);
    await Deno.chmod(`${folder}/${S3_KEY_FILE}`, 0o640);
    const [warning = "", ...others] = await file.warnings();
    assertMatch(
      warning,
      /s3\.key encrypts S3 keys and is open to other users .*\(mode 640\)\. It is private now\. .*revoke/,
    );
    assertEquals(others, []);
    assertEquals(await modeOf(`${folder}/${S3_KEY_FILE}`), 0o600);
    assertEquals(await file.warnings(), []);
    await Deno.writeTextFile(`${folder}/${S3_KEY_FILE}`, "");
    assertMatch((await file.warnings()).join(), /s3\.key in the server's data folder is damaged/);
  });
});

Deno.test("A file that the operator has given is never created or changed", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/secret`;
    const file = S3KeyFile.given(path);
    assertEquals(await file.warnings(), []);
    for (const read of [() => file.read(), () => file.readOrCreate()]) {
      await assertRejects(read, S3KeysUnavailable, "the file of --s3-secret-file does not exist");
    }
    const key = crypto.getRandomValues(new Uint8Array(32));
    await Deno.writeTextFile(path, encodeBase64(key), { mode: 0o644 });
    await Deno.chmod(path, 0o644);
    assertEquals([await file.read(), await file.readOrCreate()], [key, key]);
    const [warning = ""] = await file.warnings();
    assertMatch(warning, /\(mode 644\)\. Close it with chmod 600 \S+\/secret\./);
    assertEquals(await modeOf(path), 0o644);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["secret"]);
  });
});

Deno.test("A sealed secret opens for its own key and project only", async () => {
  await withFolder(async (folder) => {
    const sealed = await boxOf(folder).seal("secret", OWNER);
    const others = [
      { ...OWNER, project: "q" },
      { ...OWNER, accessKeyId: "KV".padEnd(20, "B") },
      // Moving a character from the id to the project makes another owner.
      { accessKeyId: OWNER.accessKeyId.slice(0, -1), project: "Ap" },
    ];
    for (const owner of others) {
      await assertRejects(() => boxOf(folder).open(sealed, owner), S3KeysUnavailable);
    }
    const cut = { ...sealed, text: sealed.text.slice(0, 8) };
    await assertRejects(() => boxOf(folder).open(cut, OWNER), S3KeysUnavailable);
  });
});

Deno.test("A key in base64 has 32 bytes", () => {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const text = encodeBase64(key);
  assertEquals(parseS3SecretKey(` ${text}\r\n`), key);
  const short = encodeBase64(key.subarray(1));
  for (const bad of ["", short, "0".repeat(64), `${text}A`, text.replace("=", "")]) {
    assertEquals(parseS3SecretKey(bad), undefined);
  }
});
