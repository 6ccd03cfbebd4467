import { assertEquals, assertRejects } from "@std/assert";
import { UsageError } from "../../terminal/output.ts";
import { passphraseOf } from "./repository_settings.ts";

Deno.test("a passphrase has nothing that an editor added to its file", async () => {
  const file = await Deno.makeTempFile();
  try {
    for (const text of ["a b", "a b\n", "a b\r\n", "\uFEFFa b\r\n", "a b\n\n"]) {
      await Deno.writeTextFile(file, text);
      assertEquals(await passphraseOf(file, "another"), "a b", JSON.stringify(text));
    }
    await Deno.writeTextFile(file, " a\nb \n");
    assertEquals(await passphraseOf(file, undefined), " a\nb ");
    for (const text of ["", "\n", "\uFEFF\r\n"]) {
      await Deno.writeTextFile(file, text);
      await assertRejects(() => passphraseOf(file, undefined), UsageError, "is empty");
    }
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("an empty variable is no passphrase", async () => {
  assertEquals(await passphraseOf(undefined, ""), undefined);
  assertEquals(await passphraseOf(undefined, "a"), "a");
});
