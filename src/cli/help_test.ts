import { assert, assertStringIncludes } from "@std/assert";
import { helpText } from "./help.ts";
import { SERVE_OPTIONS, variableOf } from "./options.ts";
import { VERSION } from "./version.ts";

Deno.test("The help names the version, every command and every option with its variable", () => {
  const text = helpText(VERSION);
  assertStringIncludes(text, `kvdrive ${VERSION}`);
  for (const command of ["serve", "version", "help"]) {
    assertStringIncludes(text, `kvdrive ${command}`);
  }
  for (const { name, value, help } of SERVE_OPTIONS) {
    assertStringIncludes(text, value === undefined ? `--${name}` : `--${name} ${value}`);
    assertStringIncludes(text, help);
    assertStringIncludes(text, variableOf(name));
  }
  for (const variable of ["KVDRIVE_PROJECT_KEY", "KVDRIVE_ADMIN_TOKEN"]) {
    assertStringIncludes(text, variable);
  }
  assert(text.endsWith("\n"));
});
